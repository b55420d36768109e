"""A training program as a user writes it, small enough for CPUs: what the launcher starts through torchrun in the tests."""

import json
import os
import time
from pathlib import Path
from typing import Any

import checkpoints  # the one file, copied beside this one as docs/concepts/training.md says
import torch
import torch.distributed as dist

STEPS = 30
FOLDER = Path(os.environ["RUN_FOLDER"])


def main() -> None:
    request = checkpoints.CheckpointSignal()
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.set_num_threads(1)
    torch.manual_seed(rank)  # dropout differs by rank, so its state belongs to the checkpoint
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Dropout(0.2), torch.nn.Linear(16, 1))
    for parameter in model.parameters():
        dist.broadcast(parameter.data, src=0)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    done = restore(model, optimizer, rank)
    for step in range(done, STEPS):
        time.sleep(float(os.environ.get("STEP_SECONDS", "0")))
        loss = train(model, optimizer, step, rank, world)
        if rank == 0:
            with (FOLDER / "losses").open("a") as file:
                file.write(json.dumps({"step": step, "from": done, "loss": loss.hex()}) + "\n")
        anybody = torch.tensor(int(request.requested))
        dist.all_reduce(anybody, op=dist.ReduceOp.MAX)
        if anybody:
            save(model, optimizer, step + 1, rank, world)
            request.acknowledge()
    dist.destroy_process_group()


def train(model: Any, optimizer: Any, step: int, rank: int, world: int) -> float:
    data = torch.Generator().manual_seed(step * world + rank)
    batch = torch.rand(16, 8, generator=data)
    loss = ((model(batch).squeeze() - batch.sum(dim=1)) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    for parameter in model.parameters():
        dist.all_reduce(parameter.grad)
        parameter.grad /= world
    optimizer.step()
    mean = loss.detach().clone()
    dist.all_reduce(mean)
    return float(mean / world)


def restore(model: Any, optimizer: Any, rank: int) -> int:
    folder = checkpoints.latest_complete_checkpoint(FOLDER / "checkpoints")
    if folder is None:
        return 0
    state = torch.load(folder / f"rank-{rank}.pt")
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    torch.set_rng_state(state["random"])
    return checkpoints.checkpoint_step(folder)


def save(model: Any, optimizer: Any, step: int, rank: int, world: int) -> None:
    folder = checkpoints.begin_checkpoint(FOLDER / "checkpoints", step)
    state = {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "random": torch.get_rng_state(),
    }
    checkpoints.write_file(folder / f"rank-{rank}.pt", lambda file: torch.save(state, file))
    dist.barrier()
    if rank == 0:
        checkpoints.complete_checkpoint(folder, [f"rank-{each}.pt" for each in range(world)])


if __name__ == "__main__":
    main()
    # Without the interpreter's end: there PyTorch 2.13 for CPUs now and then aborts after all work is done ("terminate called
    # without an active exception", no Python frame left), and the other torchruns wait for the lost one in their exit barrier.
    os._exit(0)
