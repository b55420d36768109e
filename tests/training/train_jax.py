"""The same training program in JAX: what the launcher starts once on each node in the tests."""

import json
import os
import time
from pathlib import Path
from typing import Any

import checkpoints  # the one file, copied beside this one as docs/concepts/training.md says
import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import multihost_utils
from jax.sharding import NamedSharding, PartitionSpec

STEPS = 30
FOLDER = Path(os.environ["RUN_FOLDER"])


def main() -> None:
    request = checkpoints.CheckpointSignal()
    # JAX reads the coordinator's address by itself, and neither of the others.
    jax.distributed.initialize(
        num_processes=int(os.environ["JAX_NUM_PROCESSES"]),
        process_id=int(os.environ["JAX_PROCESS_ID"]),
        heartbeat_timeout_seconds=5,
    )
    rank, world = jax.process_index(), jax.process_count()
    mesh = jax.sharding.Mesh(np.array(jax.devices()), ("data",))
    rows, whole = NamedSharding(mesh, PartitionSpec("data")), NamedSharding(mesh, PartitionSpec())
    step_function = jax.jit(train, out_shardings=whole)
    weights, momentum, done = restore()
    for step in range(done, STEPS):
        time.sleep(float(os.environ.get("STEP_SECONDS", "0")))
        own = np.random.default_rng(step * world + rank).random((16, 8), dtype=np.float32)
        batch = jax.make_array_from_process_local_data(rows, own)
        weights, momentum, loss = step_function(weights, momentum, batch)
        if rank == 0:
            with (FOLDER / "losses").open("a") as file:
                file.write(json.dumps({"step": step, "from": done, "loss": float(loss).hex()}) + "\n")
        if multihost_utils.process_allgather(np.array(request.requested)).any():
            save(weights, momentum, step + 1, rank)
            request.acknowledge()
    jax.distributed.shutdown()


def train(weights: Any, momentum: Any, batch: Any) -> tuple[Any, Any, Any]:
    def loss(weights: Any) -> Any:
        return jnp.mean((jnp.tanh(batch @ weights).sum(axis=1) - batch.sum(axis=1)) ** 2)

    value, gradient = jax.value_and_grad(loss)(weights)
    momentum = 0.9 * momentum + gradient
    return weights - 0.02 * momentum, momentum, value


def restore() -> tuple[Any, Any, int]:
    folder = checkpoints.latest_complete_checkpoint(FOLDER / "checkpoints")
    if folder is None:
        first = np.random.default_rng(7).random((8, 16), dtype=np.float32) - 0.5
        return first, np.zeros_like(first), 0
    state = np.load(folder / "state.npz")
    return state["weights"], state["momentum"], checkpoints.checkpoint_step(folder)


def save(weights: Any, momentum: Any, step: int, rank: int) -> None:
    folder = checkpoints.begin_checkpoint(FOLDER / "checkpoints", step)
    multihost_utils.sync_global_devices("begun")
    if rank == 0:
        state = {"weights": np.asarray(weights), "momentum": np.asarray(momentum)}
        checkpoints.write_file(folder / "state.npz", lambda file: np.savez(file, **state))
        checkpoints.complete_checkpoint(folder, ["state.npz"])
    multihost_utils.sync_global_devices("complete")


if __name__ == "__main__":
    main()
