"""Pretrain a Llama model on Trainium2 or CPUs, sharded over all devices with PyTorch's FSDP2 and resumed from /fsx.

On Trainium2, it needs TorchNeuron, which makes Trainium a native device of PyTorch; on CPUs, it needs only PyTorch.
"""

import argparse
import json
import math
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
import torch.nn.functional as F  # noqa: N812 - as everywhere
from torch import Tensor, nn
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

from ultracluster_runtime.checkpoints import (
    CheckpointSignal,
    begin_checkpoint,
    checkpoint_step,
    complete_checkpoint,
    latest_complete_checkpoint,
)
from ultracluster_runtime.training_metrics import TrainingMetrics

BACKENDS = {"neuron": "neuron", "cpu": "gloo"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Config:
    """Sizes of the model and its batches, and training settings, read from a file such as tiny.json."""

    vocabulary: int
    width: int
    layers: int
    heads: int
    kv_heads: int
    hidden: int
    sequence: int
    batch: int  # sequences of each process
    steps: int
    warmup: int
    learning_rate: float
    checkpoint_every: int
    rope_base: float = 500_000.0


class RMSNorm(nn.Module):  # type: ignore[misc]  # torch is not installed where types are checked
    """Root mean square normalization, computed in 32 bits."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        """Normalize the last dimension."""
        wide = x.float()
        return (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-5)).type_as(x) * self.weight


def rotate(x: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    """Apply rotary position embeddings."""
    first, second = x.chunk(2, dim=-1)
    return torch.cat((first * cosine - second * sine, second * cosine + first * sine), dim=-1)


class Block(nn.Module):  # type: ignore[misc]  # as above
    """A transformer block with grouped-query attention and a gated network."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.heads, self.kv_heads, self.size = config.heads, config.kv_heads, config.width // config.heads
        self.before_attention, self.before_network = RMSNorm(config.width), RMSNorm(config.width)
        self.query = nn.Linear(config.width, config.width, bias=False)
        self.key = nn.Linear(config.width, config.kv_heads * self.size, bias=False)
        self.value = nn.Linear(config.width, config.kv_heads * self.size, bias=False)
        self.out = nn.Linear(config.width, config.width, bias=False)
        self.gate = nn.Linear(config.width, config.hidden, bias=False)
        self.up = nn.Linear(config.width, config.hidden, bias=False)
        self.down = nn.Linear(config.hidden, config.width, bias=False)

    def forward(self, x: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
        """Return the output of the block for a batch of sequences."""
        batch, length, width = x.shape
        inner = self.before_attention(x)

        def heads(projection: nn.Linear, count: int) -> Tensor:
            return projection(inner).view(batch, length, count, self.size).transpose(1, 2)

        query = rotate(heads(self.query, self.heads), cosine, sine)
        shared = self.heads // self.kv_heads
        key = rotate(heads(self.key, self.kv_heads), cosine, sine).repeat_interleave(shared, dim=1)
        value = heads(self.value, self.kv_heads).repeat_interleave(shared, dim=1)
        attended = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.out(attended.transpose(1, 2).reshape(batch, length, width))
        inner = self.before_network(x)
        return x + self.down(F.silu(self.gate(inner)) * self.up(inner))


class Llama(nn.Module):  # type: ignore[misc]  # as above
    """A Llama model."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocabulary, config.width)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.layers))
        self.norm = RMSNorm(config.width)
        self.head = nn.Linear(config.width, config.vocabulary, bias=False)
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.normal_(parameter, std=0.02)

    def forward(self, tokens: Tensor) -> Tensor:
        """Return the logits of the next tokens."""
        size = self.config.width // self.config.heads
        powers = torch.arange(0, size, 2, device=tokens.device, dtype=torch.float32) / size
        angles = torch.outer(
            torch.arange(tokens.shape[1], device=tokens.device, dtype=torch.float32),
            self.config.rope_base**-powers,
        )
        x = self.embedding(tokens)
        cosine, sine = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        for block in self.blocks:
            x = block(x, cosine, sine)
        return self.head(self.norm(x))


class Data:
    """Tokens that prepare.py wrote. Each process reads its own sequences, and the same ones after a resume."""

    def __init__(self, path: Path, config: Config, rank: int, world: int) -> None:
        self.tokens = np.memmap(path, dtype=np.uint32, mode="r")
        self.config, self.rank, self.world = config, rank, world
        if len(self.tokens) <= config.sequence:
            raise SystemExit(
                f"{path} has {len(self.tokens)} tokens, fewer than a sequence of {config.sequence}"
            )

    def batch(self, step: int) -> tuple[Tensor, Tensor]:
        """Return the tokens of a step, and the tokens that follow them."""
        random = np.random.default_rng([step, self.rank])
        starts = random.integers(0, len(self.tokens) - self.config.sequence, self.config.batch)
        rows = np.stack([self.tokens[start : start + self.config.sequence + 1] for start in starts])
        rows_of_ints = torch.from_numpy(rows.astype(np.int64))
        return rows_of_ints[:, :-1], rows_of_ints[:, 1:]


def learning_rate(step: int, config: Config) -> float:
    """Return the learning rate of a step: a linear warm-up, then a cosine to a tenth."""
    if step < config.warmup:
        return config.learning_rate * (step + 1) / config.warmup
    share = (step - config.warmup) / max(config.steps - config.warmup, 1)
    return config.learning_rate * (0.1 + 0.45 * (1 + math.cos(math.pi * min(share, 1.0))))


def main() -> None:
    """Train from the latest checkpoint to the last step."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--config", type=Path, required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--checkpoints", type=Path, required=True)
    parser.add_argument("--device", choices=BACKENDS, default="neuron")
    parser.add_argument("--step-seconds", type=float, default=0.0, help="least duration of a step, for tests")
    options = parser.parse_args()
    config = Config(**json.loads(options.config.read_text()))

    signal = CheckpointSignal()  # first, because requests before this line are lost
    if options.device == "neuron":
        import torch_neuronx  # noqa: F401, PLC0415 - registers the device
    dist.init_process_group(BACKENDS[options.device])
    rank, world = dist.get_rank(), dist.get_world_size()
    device = torch.device(options.device)
    torch.manual_seed(0)  # all processes start with the same weights
    model = Llama(config).to(device)
    parameters = sum(parameter.numel() for parameter in model.parameters())
    policy = MixedPrecisionPolicy(
        param_dtype=torch.float32 if options.device == "cpu" else torch.bfloat16, reduce_dtype=torch.float32
    )
    for block in model.blocks:
        fully_shard(block, mp_policy=policy)
    fully_shard(model, mp_policy=policy)
    optimizer = torch.optim.AdamW(model.parameters(), lr=config.learning_rate, betas=(0.9, 0.95))
    data = Data(options.data, config, rank, world)

    done = restore(model, optimizer, options.checkpoints)
    say(rank, f"{world} processes, {parameters:,} parameters, from step {done}")
    metrics = TrainingMetrics(
        flops_per_token=6.0 * parameters, precision="fp32" if options.device == "cpu" else "bf16"
    )
    with metrics:
        for step in range(done, config.steps):
            began = time.monotonic()
            loss = train(model, optimizer, data, step, config)
            total = torch.tensor([loss / world, float(signal.requested)], device=device)
            dist.all_reduce(total)
            mean, requested = total.tolist()
            time.sleep(max(options.step_seconds - (time.monotonic() - began), 0.0))
            seconds = time.monotonic() - began
            metrics.step(seconds, tokens=world * config.batch * config.sequence, loss=mean)
            say(rank, f"step {step + 1} loss {mean:.4f}")
            last = step + 1 == config.steps
            # All processes agree, because their requests were added up.
            if requested or last or (step + 1) % config.checkpoint_every == 0:
                began = time.monotonic()
                save(model, optimizer, options.checkpoints, step + 1)
                signal.acknowledge()
                metrics.checkpoint(time.monotonic() - began)
                say(rank, f"checkpoint of step {step + 1}")
    say(rank, f"done after {config.steps} steps")
    dist.destroy_process_group()


def train(model: nn.Module, optimizer: Any, data: Data, step: int, config: Config) -> float:
    """Run a step, and return the loss of this process."""
    for group in optimizer.param_groups:
        group["lr"] = learning_rate(step, config)
    device = next(model.parameters()).device
    tokens, following = (part.to(device) for part in data.batch(step))
    logits = model(tokens).float()
    loss = F.cross_entropy(logits.flatten(0, 1), following.flatten())
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return float(loss.detach())


def restore(model: nn.Module, optimizer: Any, root: Path) -> int:
    """Load the latest complete checkpoint, even from another number of processes, and return its step."""
    folder = latest_complete_checkpoint(root)
    if folder is None:
        return 0
    weights, moments = get_state_dict(model, optimizer)
    dcp.load({"model": weights, "optimizer": moments}, checkpoint_id=folder)
    set_state_dict(model, optimizer, model_state_dict=weights, optim_state_dict=moments)
    return checkpoint_step(folder)


def save(model: nn.Module, optimizer: Any, root: Path, step: int) -> None:
    """Write a checkpoint, in which each process writes its shard."""
    folder = begin_checkpoint(root, step)
    weights, moments = get_state_dict(model, optimizer)
    dcp.save({"model": weights, "optimizer": moments}, checkpoint_id=folder)
    dist.barrier()
    if dist.get_rank() == 0:
        complete_checkpoint(folder)
    dist.barrier()


def say(rank: int, text: str) -> None:
    """Write a line to the log of the job, from one process only."""
    if rank == 0:
        print(text, flush=True)


if __name__ == "__main__":
    main()
    # Skip the interpreter's shutdown, in which PyTorch for CPUs sometimes aborts after all work is done.
    os._exit(0)
