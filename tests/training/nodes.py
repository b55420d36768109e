"""Nodes of AWS Batch on this machine: each runs the job's own launcher, with the variables that Batch gives it.

Those of a `NodeArray` are children of an array, and run the command of its job definition.
"""

import os
import random
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.processes import descendants

from ultracluster.jobs.array_rendezvous import rendezvous_command
from ultracluster.jobs.launcher import Launcher
from ultracluster_catalog.names.launcher import LAUNCHER_PATH
from ultracluster_spec.commands import encode_word

__all__ = ["Job", "NodeArray", "environment_folder"]

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "constructs/ultracluster/scripts"
PATIENCE = 120.0  # for machines that do much else


def environment_folder() -> Path:
    """The folder of the programs of `make training`; these tests fail where it is missing."""
    folder = ROOT / ".ultracluster" / "training" / "bin"
    assert (folder / "torchrun").exists(), "make training installs torch and JAX, and runs these tests"
    return folder


class Job:
    """A multi-node parallel job: as many launchers as nodes, in a folder that stands for the shared file system."""

    def __init__(self, folder: Path, launcher: Launcher, command: list[str], *, nodes: int = 4) -> None:
        self.folder = folder
        self.notices = folder / "notices"
        self.notices.mkdir(parents=True)
        shutil.copy(ROOT / "constructs/ultracluster_runtime/checkpoints.py", folder)
        self._command = ["python3", str(SCRIPTS / "launch.py"), launcher, *map(encode_word, command)]
        self._count = nodes
        self._nodes: list[subprocess.Popen[bytes]] = []
        self._attempt = 0

    def start(self, **variables: str) -> None:
        """Start an attempt of the job: all nodes, the main node last, as it may happen."""
        self._attempt += 1
        port = free_port()
        common = {
            "PATH": f"{environment_folder()}:/usr/bin:/bin",
            "PYTHONPATH": str(self.folder),
            "RUN_FOLDER": str(self.folder),
            "JAX_PLATFORMS": "cpu",
            "OMP_NUM_THREADS": "1",
            "PYTHONFAULTHANDLER": "1",  # a rank that aborts says where
            "UC_PROCESSES_PER_NODE": "1",
            "UC_DEVICES_PER_NODE": "1",
            "UC_CHECKPOINT_FILE": str(self.notices / "checkpoint"),
            "UC_CHECKPOINT_POLL_SECONDS": "0.2",
            "MASTER_PORT": str(port),
            "AWS_BATCH_JOB_ATTEMPT": str(self._attempt),
        }
        self._nodes = [self._start_node(index, common | variables) for index in reversed(range(self._count))][
            ::-1
        ]

    def _start_node(self, index: int, variables: Mapping[str, str]) -> subprocess.Popen[bytes]:
        batch = {
            "AWS_BATCH_JOB_ID": "9c1f2e0a-0000-4000-8000-000000000000",
            "AWS_BATCH_JOB_NUM_NODES": str(self._count),
            "AWS_BATCH_JOB_NODE_INDEX": str(index),
            "AWS_BATCH_JOB_MAIN_NODE_INDEX": "0",
        }
        if (
            index
        ):  # the main node is not told its own address; it is another one of this machine, to tell them apart
            batch["AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS"] = "127.0.0.2"
        with self._log(index).open("ab") as log:
            return subprocess.Popen(
                self._command,
                env=batch | variables,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def order_checkpoint(self) -> None:
        """Do what the node's command of the life cycle does: say until when checkpoints must be written."""
        new = self.notices / "checkpoint.new"
        new.write_text(f"{datetime.now(UTC) + timedelta(hours=1):%Y-%m-%dT%H:%M:%SZ}\n")
        new.rename(self.notices / "checkpoint")

    def lose(self, index: int) -> None:
        """Lose a node: all its processes end at once, as when the host is gone."""
        node = self._nodes[index]
        for pid in [node.pid, *descendants(node.pid)]:
            with suppress(ProcessLookupError):  # the launcher's own short commands come and go
                os.kill(pid, signal.SIGKILL)

    def terminate(self, index: int) -> None:
        """Do what TerminateJob does to a container."""
        self._nodes[index].terminate()

    def wait(self) -> list[int]:
        """Wait for all nodes, and give their exit codes."""
        deadline = time.monotonic() + PATIENCE
        try:
            return [node.wait(max(deadline - time.monotonic(), 0.1)) for node in self._nodes]
        except subprocess.TimeoutExpired:
            raise AssertionError(f"the nodes did not end in {PATIENCE} s\n{self.logs}") from None

    def wait_for(self, reached: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE
        while not reached():
            assert time.monotonic() < deadline, self.logs
            time.sleep(0.05)

    def close(self) -> None:
        for index, node in enumerate(self._nodes):
            if node.poll() is None:
                self.lose(index)
                node.wait()

    @property
    def logs(self) -> str:
        return "\n".join(f"node {index}:\n{self.log(index)}" for index in range(self._count))

    def log(self, index: int) -> str:
        return self._log(index).read_text(errors="replace")

    def _log(self, index: int) -> Path:
        return self.folder / f"node-{index}.log"


class NodeArray(Job):
    """A job as an array of one child for each node, as where an Auto Scaling group starts the nodes."""

    def __init__(self, folder: Path, launcher: Launcher, command: list[str], *, nodes: int = 4) -> None:
        super().__init__(folder, launcher, command, nodes=nodes)
        self.job_id = "9c1f2e0a-0000-4000-8000-000000000000"
        scripts = {LAUNCHER_PATH: str(SCRIPTS / "launch.py")}
        self._command = [scripts.get(word, word) for word in rendezvous_command(command, launcher)]

    def _start_node(self, index: int, variables: Mapping[str, str]) -> subprocess.Popen[bytes]:
        array = {
            "AWS_BATCH_JOB_ID": f"{self.job_id}:{index}",
            "AWS_BATCH_JOB_ARRAY_INDEX": str(index),
            "UC_ARRAY_NODES": str(self._count),
            "UC_RENDEZVOUS_PLACE": str(self.folder / "node_arrays"),
            "UC_RENDEZVOUS_ADDRESS": "127.0.0.1",
            "UC_RENDEZVOUS_POLL": "0.3",
            "UC_RENDEZVOUS_LEASE": "12",
            "UC_RENDEZVOUS_PORT": variables["MASTER_PORT"],
        }
        with self._log(index).open("ab") as log:
            return subprocess.Popen(
                self._command,
                env=array | variables,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )


def free_port() -> int:
    """A port whose followers are free too, for JAX and the launchers; below those that the kernel hands out itself."""
    while True:
        port = random.randrange(20_000, 32_000, 4)  # noqa: S311 - no secret
        with ExitStack() as ports, suppress(OSError):
            for following in range(3):
                ports.enter_context(socket.socket()).bind(("", port + following))
            return port
