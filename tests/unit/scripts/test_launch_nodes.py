"""Launchers of several nodes stay in touch: real launchers on this machine, each with an address of its own."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.processes import descendants
from tests.unit.scripts.fabric import ADDRESSES

from ultracluster_catalog.names.launcher import LOST_NODE
from ultracluster_spec.commands import encode_word

pytestmark = pytest.mark.slow

LAUNCHER = Path(__file__).parents[3] / "constructs/ultracluster/scripts/launch.py"
PATIENCE = 30.0
WAITS = 'import os, sys, time\nopen("up." + os.environ["NODE_RANK"], "w").close()\n{more}\nwhile True: time.sleep(0.05)\n'


class Nodes:
    """A job whose nodes run a Python program each."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "sitecustomize.py").write_text(ADDRESSES)
        with socket.socket() as free:
            free.bind(("", 0))
            self.port = free.getsockname()[1] - 2
        self.running: dict[int, subprocess.Popen[bytes]] = {}

    def start(
        self, index: int, more: str = "", *, count: int = 3, program: str = "", **variables: str
    ) -> None:
        own = {"OWN": f"127.0.0.{index + 2}", "AWS_BATCH_JOB_ID": f"job#{index}"}
        if index:
            own["AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS"] = "127.0.0.2"
        command = [sys.executable, "-c", program or WAITS.format(more=more)]
        with (self.folder / f"log.{index}").open("wb") as log:
            self.running[index] = subprocess.Popen(
                ["python3", str(LAUNCHER), "raw", *map(encode_word, command)],
                env={
                    "PATH": os.environ["PATH"],
                    "PYTHONPATH": str(self.folder),
                    "MASTER_PORT": str(self.port),
                    "AWS_BATCH_JOB_NUM_NODES": str(count),
                    "AWS_BATCH_JOB_NODE_INDEX": str(index),
                    "UC_LOST_SECONDS": "3",
                    **own,
                    **variables,
                },
                cwd=self.folder,
                stdout=log,
                stderr=log,
            )

    def are_up(self, *indexes: int) -> None:
        """Wait until the programs run, and the main node has heard of the others."""
        self.wait_for(lambda: all((self.folder / f"up.{index}").exists() for index in indexes))
        time.sleep(0.7)

    def signal(self, index: int, number: int) -> None:
        node = self.running[index]
        for pid in [node.pid, *descendants(node.pid)]:
            os.kill(pid, number)

    def end(self, index: int) -> int:
        return self.running[index].wait(PATIENCE)

    def log(self, index: int) -> str:
        return (self.folder / f"log.{index}").read_text()

    def wait_for(self, reached: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE
        while not reached():
            assert time.monotonic() < deadline, [self.log(index) for index in self.running]
            time.sleep(0.02)

    def close(self) -> None:
        for index, node in self.running.items():
            if node.poll() is None:
                self.signal(index, signal.SIGKILL)
                node.wait()


@pytest.fixture
def nodes(tmp_path: Path) -> Iterator[Nodes]:
    made = Nodes(tmp_path)
    yield made
    made.close()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP], ids=["gone", "silent"])
def test_a_lost_node_ends_the_job_and_is_named(nodes: Nodes, number: int) -> None:
    for index in range(3):
        nodes.start(index)
    nodes.are_up(0, 1, 2)
    nodes.signal(2, number)
    assert nodes.end(0) == LOST_NODE
    assert "ultracluster: node 2 (127.0.0.4) was lost; the job ends with exit code 112\n" in nodes.log(0)
    assert nodes.running[1].poll() is None  # AWS Batch ends the others


@pytest.mark.parametrize(
    "handler", ["signal.SIG_IGN", "lambda *_: os._exit(0)"], ids=["ignores the end", "ends as a success"]
)
def test_a_program_cannot_turn_a_lost_node_into_a_success(nodes: Nodes, handler: str) -> None:
    nodes.start(0, f"import signal\nsignal.signal(signal.SIGTERM, {handler})", count=2)
    nodes.start(1, count=2)
    nodes.are_up(0, 1)
    nodes.signal(1, signal.SIGKILL)
    assert nodes.end(0) == LOST_NODE


def test_a_program_that_fails_for_a_lost_node_leaves_the_exit_code_of_the_loss(nodes: Nodes) -> None:
    # As torchrun does when a connection breaks; a job starts again after a loss, and not after a failure.
    fails = "while not os.path.exists('lost'): time.sleep(0.02)\nsys.exit(1)"
    nodes.start(0, fails, count=2)
    nodes.start(1, count=2)
    nodes.are_up(0, 1)
    nodes.signal(1, signal.SIGKILL)
    (nodes.folder / "lost").touch()
    assert nodes.end(0) == LOST_NODE


def test_a_node_that_failed_ends_the_job_unless_the_program_does(nodes: Nodes) -> None:
    nodes.start(0, count=2)
    nodes.start(1, "time.sleep(1); sys.exit(3)", count=2)
    assert nodes.end(1) == 3
    assert nodes.end(0) == 1
    assert "node 1 (127.0.0.3) has ended with exit code 3\n" in nodes.log(0)


def test_a_program_that_does_not_exist_is_a_failed_node(nodes: Nodes) -> None:
    nodes.start(0, count=2)
    nodes.start(1, count=2, program="import os; os.execvp('nothing', ['nothing'])")
    assert nodes.end(0) == 1


def test_a_node_that_is_done_early_ends_nothing(nodes: Nodes) -> None:
    nodes.start(0, "time.sleep(3); sys.exit(0)", count=2, UC_LOST_SECONDS="1.5")
    nodes.start(1, "sys.exit(0)", count=2)
    assert nodes.end(1) == 0
    assert nodes.end(0) == 0
    assert "lost" not in nodes.log(0)


def test_an_absent_node_is_named_and_left_to_the_program(nodes: Nodes) -> None:
    nodes.start(0, "time.sleep(4); sys.exit(5)", count=2, UC_LOST_SECONDS="0.5")
    assert nodes.end(0) == 5
    assert "nothing was heard of node 1 yet" in nodes.log(0)


def test_the_end_of_the_main_node_is_the_end_of_the_job(nodes: Nodes) -> None:
    nodes.start(0, "time.sleep(2); sys.exit(7)", count=2)
    nodes.start(1, count=2)
    assert nodes.end(0) == 7
    assert nodes.running[1].poll() is None


def test_a_job_whose_port_is_taken_runs_and_logs_what_it_lacks(nodes: Nodes) -> None:
    with socket.create_server(("", nodes.port + 2)):
        nodes.start(0, "time.sleep(1); sys.exit(0)", count=2)
        assert nodes.end(0) == 0
    assert f"a lost node will not be noticed: port {nodes.port + 2}" in nodes.log(0)
    assert "Traceback" not in nodes.log(0)


# As mpirun does: it starts a command on a host by the agent that it was told, again while no such node is there yet.
MPIRUN = """
import os, subprocess, sys, time
for attempt in range({attempts}):
    agent = os.environ["OMPI_MCA_plm_rsh_agent"]
    code = subprocess.run([agent, {host!r}, "echo started on node $NODE_RANK;", "exit 4"]).returncode
    if code != 255:
        break
    time.sleep(0.2)
sys.exit(code)
"""


@pytest.mark.parametrize(
    ("host", "attempts", "code", "said"),
    [
        ("127.0.0.3", 50, 4, "started on node 1"),
        ("root@127.0.0.3", 50, 4, "started on node 1"),
        ("192.0.2.99", 1, 255, "nothing is started on 192.0.2.99, which is no node of this job"),
    ],
)
def test_open_mpi_reaches_the_nodes_of_the_job_and_no_other(
    nodes: Nodes, host: str, attempts: int, code: int, said: str
) -> None:
    nodes.start(1, count=2)
    nodes.are_up(1)
    nodes.start(
        0, count=2, program="import time; time.sleep(1)" + MPIRUN.format(host=host, attempts=attempts)
    )
    assert nodes.end(0) == code
    assert said in nodes.log(0) + nodes.log(1)
