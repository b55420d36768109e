"""Train a tiny model on every NeuronCore and report the ranks whose losses differ from the majority.

torchrun starts it in every process of a job. All ranks hold the same parameters and see the same batches, so their losses
are equal to the last bit, unless a core computes wrongly or a collective delivers to some ranks what it does not to others.
"""

import argparse
import math
import os
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist

# Backend of the process group by device: torch-neuronx through XLA, TorchNeuron, CUDA, and CPU.
BACKENDS = {"xla": "xla", "neuron": "neuron", "cuda": "nccl", "cpu": "gloo"}
FEATURES, ROWS = 256, 64


def main() -> int:
    """Train, compare losses after every step, and return the exit code."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", choices=BACKENDS, required=True)
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--patience", type=float, default=600.0, help="seconds, for each collective")
    wanted = parser.parse_args()
    device, flush = open_device(wanted.device)
    dist.init_process_group(BACKENDS[wanted.device], timeout=timedelta(seconds=wanted.patience))
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Linear(FEATURES, FEATURES), torch.nn.ReLU(), torch.nn.Linear(FEATURES, 1)
    ).to(device)
    for step in range(wanted.steps):
        loss = train(model, device, step, world)
        flush()
        problem = judge(gather(loss, device, world), step)
        if problem:
            if rank == 0:
                say(f"refused: {problem}")
            return 1
        if rank == 0:
            say(f"step {step}: loss {loss} on all {world} ranks")
    dist.destroy_process_group()
    if rank == 0:
        say("passed")
    if wanted.device == "cpu":
        # PyTorch 2.13 for CPUs sometimes aborts at interpreter exit, after all work is done; that says nothing about a core.
        os._exit(0)
    return 0


def open_device(kind: str) -> tuple[Any, Callable[[], object]]:
    """Return the device of this process, and the function that executes its pending operations."""
    if kind == "xla":
        import torch_xla.core.xla_model as xm  # noqa: PLC0415 - in images of torch-neuronx only
        import torch_xla.distributed.xla_backend  # noqa: F401, PLC0415 - registers the process group's backend

        return xm.xla_device(), xm.mark_step
    if kind == "cuda":
        local_rank = int(os.environ["LOCAL_RANK"])
        torch.cuda.set_device(local_rank)
        return torch.device("cuda", local_rank), lambda: None
    if kind == "neuron":
        import torch_neuronx  # noqa: F401, PLC0415 - registers TorchNeuron's device and the process group's backend
    return torch.device(kind), lambda: None


def train(model: Any, device: Any, step: int, world: int) -> float:
    """Run one step of gradient descent on a batch that all ranks share; return the loss of this rank."""
    batch = torch.rand(ROWS, FEATURES, generator=torch.Generator().manual_seed(step)).to(device)
    loss = ((model(batch).squeeze(1) - batch.mean(dim=1)) ** 2).mean()
    model.zero_grad()
    loss.backward()
    with torch.no_grad():
        for parameter in model.parameters():
            dist.all_reduce(parameter.grad)
            parameter.sub_(0.1 * parameter.grad / world)
    return float(loss)


def gather(loss: float, device: Any, world: int) -> list[float]:
    """Gather the losses of all ranks on every rank."""
    own = torch.tensor([loss], dtype=torch.float32, device=device)
    everybody = [torch.zeros_like(own) for _ in range(world)]
    dist.all_gather(everybody, own)
    return [float(each) for each in everybody]


def judge(losses: Sequence[float], step: int) -> str | None:
    """Report which ranks differ from the majority, and where they run."""
    if not all(map(math.isfinite, losses)):
        bad = [rank for rank, loss in enumerate(losses) if not math.isfinite(loss)]
        return f"step {step}: the loss is not a number on {places(bad)}"
    ((most, count),) = Counter(losses).most_common(1)
    if count == len(losses):
        return None
    bad = [rank for rank, loss in enumerate(losses) if loss != most]
    return f"step {step}: the loss is {most} on {count} ranks, but {losses[bad[0]]} on {places(bad)}"


def places(ranks: Sequence[int]) -> str:
    """Name ranks by node and process."""
    each = int(os.environ["LOCAL_WORLD_SIZE"])
    return ", ".join(f"rank {rank} (node {rank // each}, process {rank % each})" for rank in ranks)


def say(what: str) -> None:
    """Write to the log of the job."""
    print(f"ultracluster: smoke train: {what}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
