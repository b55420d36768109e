"""Train a small network on all nodes, with data parallelism and checkpoints that survive the end of a Capacity Block.

It needs only NumPy, so it runs on a laptop and in any image; a real program uses a library's all-reduce.
"""

import argparse
import os
import socket
import sys
import time
from pathlib import Path

import numpy as np

from ultracluster_runtime.checkpoints import (
    CheckpointSignal,
    begin_checkpoint,
    checkpoint_step,
    complete_checkpoint,
    latest_complete_checkpoint,
    write_file,
)
from ultracluster_runtime.training_metrics import TrainingMetrics

# With `launcher: raw` there is a process on each node; torchrun numbers its processes itself.
RANK, NODES = (
    int(os.environ.get(own) or os.environ.get(of_torchrun) or default)
    for own, of_torchrun, default in (("NODE_RANK", "RANK", "0"), ("NNODES", "WORLD_SIZE", "1"))
)
PORT = int(os.environ.get("MASTER_PORT", "28400")) + 3  # the launcher uses the three ports before it
PATIENCE = 120.0


class Ring:
    """Connections of all nodes to the main node, which adds up the values that they send."""

    def __init__(self) -> None:
        self.others: list[socket.socket] = []
        if NODES == 1:
            return
        if RANK == 0:
            with socket.create_server(("", PORT), backlog=NODES) as server:
                server.settimeout(PATIENCE)
                for _ in range(NODES - 1):
                    connection, _ = server.accept()
                    connection.settimeout(PATIENCE)
                    self.others.append(connection)
            return
        deadline = time.monotonic() + PATIENCE
        while not self.others:
            try:
                self.others = [socket.create_connection((os.environ["MASTER_ADDR"], PORT), timeout=PATIENCE)]
            except OSError:  # the main node is not listening yet
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)

    def all_reduce(self, values: np.ndarray) -> np.ndarray:
        """Return the sum of the values of all nodes; it is also a barrier."""
        if RANK == 0:
            for other in self.others:
                values = values + receive(other, values.size)
            for other in self.others:
                other.sendall(values.tobytes())
        elif self.others:
            self.others[0].sendall(values.tobytes())
            values = receive(self.others[0], values.size)
        return values


def receive(connection: socket.socket, size: int) -> np.ndarray:
    """Receive an array of 64-bit numbers."""
    data = bytearray()
    while len(data) < 8 * size:
        part = connection.recv(8 * size - len(data))
        if not part:
            sys.exit("a node is gone")
        data += part
    return np.frombuffer(bytes(data))


def main() -> None:
    """Train until the last step, or until the job is terminated after a checkpoint."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--checkpoints", type=Path, default=Path("checkpoints"))
    options.add_argument("--steps", type=int, default=200)
    options.add_argument("--step-seconds", type=float, default=0.0, help="pretend that a step takes so long")
    options.add_argument(
        "--metrics-seconds", type=float, default=1.0, help="seconds between two lines of metrics"
    )
    given = options.parse_args()

    signal = CheckpointSignal()
    ring = Ring()
    weights = np.random.default_rng(0).normal(size=(64 * 32 + 32,)) * 0.1
    first, latest = 0, latest_complete_checkpoint(given.checkpoints)
    if latest is not None:
        first = checkpoint_step(latest)
        weights = np.load(latest / "weights.npy")
    if RANK == 0:
        print(f"{NODES} nodes, from step {first}", flush=True)
    true = np.random.default_rng(1).normal(size=(64,))
    with TrainingMetrics(min_interval_seconds=given.metrics_seconds) as metrics:
        for step in range(first, given.steps):
            began = time.monotonic()
            data = np.random.default_rng([step, RANK]).normal(size=(256, 64))  # this node's share
            loss, gradient = loss_and_gradient(weights, data, np.tanh(data @ true))
            total = ring.all_reduce(np.append(gradient, [loss, float(signal.requested)]))
            weights = weights - 0.1 * total[:-2] / NODES
            time.sleep(max(given.step_seconds - (time.monotonic() - began), 0))
            metrics.step(time.monotonic() - began, loss=total[-2] / NODES, tokens=256 * NODES)
            if RANK == 0 and (step + 1) % 10 == 0:
                print(f"step {step + 1} loss {total[-2] / NODES:.4f}", flush=True)
            if total[-1] or step + 1 == given.steps:  # all nodes agree, because their requests were added up
                save(given.checkpoints, step + 1, weights)
                ring.all_reduce(np.zeros(1))
                signal.acknowledge()
    if RANK == 0:
        print(f"done after {given.steps} steps", flush=True)


def loss_and_gradient(weights: np.ndarray, data: np.ndarray, wanted: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the loss of a network with one hidden layer, and its gradient."""
    inner, outer = weights[: 64 * 32].reshape(64, 32), weights[64 * 32 :]
    hidden = np.tanh(data @ inner)
    error = hidden @ outer - wanted
    to_hidden = np.outer(error, outer) * (1 - hidden**2)
    gradient = np.concatenate([(data.T @ to_hidden).ravel(), hidden.T @ error]) / len(data)
    return float(np.mean(error**2)), gradient


def save(root: Path, step: int, weights: np.ndarray) -> None:
    """Write a checkpoint on the main node: all nodes have the same weights."""
    if RANK:
        return
    latest = latest_complete_checkpoint(root)
    if latest is None or checkpoint_step(latest) < step:
        folder = begin_checkpoint(root, step)
        write_file(folder / "weights.npy", lambda file: np.save(file, weights))
        complete_checkpoint(folder)
        print(f"checkpoint of step {step}", flush=True)


if __name__ == "__main__":
    main()
