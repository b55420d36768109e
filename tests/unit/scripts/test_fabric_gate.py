"""The fabric gate runs here for real, as its job starts it, with fakes for fi_info and nccom-test (tests/unit/scripts/fakes)."""

import os
import shutil
import socket
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

pytestmark = pytest.mark.process

HERE = Path(__file__).parent
SCRIPTS = HERE.parents[2] / "constructs/ultracluster/scripts"
LAUNCHER = (SCRIPTS / "launch.sh").read_text() + (SCRIPTS / "start-raw.sh").read_text()
GATE = (SCRIPTS / "fabric_gate.py").read_text()
# Every node of AWS Batch has an address of its own; on one machine a connection must be told which to come from.
ADDRESSES = """
import os, socket
connect = socket.create_connection
socket.create_connection = lambda to, timeout: connect(to, timeout=timeout, source_address=(os.environ["OWN"], 0))
"""


class Outcome(NamedTuple):
    """What became of a gate: exit codes by node, the main node's log, and what nccom-test was asked."""

    codes: list[int]
    log: str
    asked: str
    measured: list[str]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "sitecustomize.py").write_text(ADDRESSES)
    shutil.copytree(HERE / "fakes", tmp_path / "fakes")
    return tmp_path


def gate(
    folder: Path, *options: str, nodes: int = 2, absent: int | None = None, **special: dict[str, str]
) -> Outcome:
    """Run the gate; `special` are variables of one node, by `node0`, `node1`..."""
    with socket.socket() as free:
        free.bind(("", 0))
        port = free.getsockname()[1] - 2
    common = {
        "PATH": f"{folder / 'fakes'}:{os.environ['PATH']}",
        "PYTHONPATH": str(folder),
        "RUN_FOLDER": str(folder),
        "MASTER_PORT": str(port),
        "AWS_BATCH_JOB_NUM_NODES": str(nodes),
        "AWS_BATCH_JOB_MAIN_NODE_INDEX": "0",
    }
    command = ["python3", "-c", GATE, "--efa-interfaces", "4", "--ranks-per-node", "64"]
    command += options or ["--patience", "20"]
    running = {}
    for index in sorted(set(range(nodes)) - {absent}):
        own = {"AWS_BATCH_JOB_NODE_INDEX": str(index), "AWS_BATCH_JOB_ID": f"job-1#{index}"}
        if index:
            own |= {
                "AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS": "127.0.0.2",
                "OWN": f"127.0.0.{index + 2}",
            }
        running[index] = subprocess.Popen(
            ["bash", "-c", LAUNCHER, "ultracluster-launch", *command],
            env=common | own | special.get(f"node{index}", {}),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
    logs = {index: node.communicate(timeout=30)[1] for index, node in running.items()}
    asked, bench = folder / "nccom-arguments", folder / "bench"
    return Outcome(
        [node.returncode for node in running.values()],
        logs[0],
        asked.read_text() if asked.exists() else "",
        sorted(bench.read_text().split()) if bench.exists() else [],
    )


def test_lets_a_whole_fabric_pass_and_says_what_it_measured(folder: Path) -> None:
    outcome = gate(folder, nodes=3)
    assert outcome.codes == [0, 0, 0], outcome.log
    assert "measured 47.09 GiB/s at 1 GiB, 840.0 us at 1 KiB" in outcome.log
    assert outcome.log.endswith("fabric gate: passed\n")


def test_measures_over_all_nodes_without_ssh(folder: Path) -> None:
    outcome = gate(folder, nodes=3)
    assert outcome.asked.startswith("-r 192 -N 3 ")
    assert outcome.asked.endswith(" 127.0.0.3 127.0.0.4\n")  # in the order of the nodes, behind the main node
    assert outcome.measured == ["1", "2"]  # the other nodes started what the main node's MPI sent


@pytest.mark.parametrize(
    ("node", "variables", "problem"),
    [
        ("node1", {"FAKE_EFA": "3"}, "node 1 (127.0.0.3): libfabric sees 3 EFA interfaces of 4"),
        ("node1", {"FAKE_EFA": "0"}, "node 1 (127.0.0.3): libfabric sees 0 EFA interfaces of 4"),
        ("node0", {"FAKE_EFA": "5"}, "node 0: libfabric sees 5 EFA interfaces of 4"),
        ("node1", {"FAKE_PROVIDER": "tcp"}, "node 1 (127.0.0.3): libfabric offers tcp"),
    ],
)
def test_refuses_when_one_node_lacks_efa_and_names_it(
    folder: Path, node: str, variables: dict[str, str], problem: str
) -> None:
    outcome = gate(folder, **{node: variables})
    assert outcome.codes[0] == 1  # the main node's failure is the job's
    assert f"refused: {problem}" in outcome.log
    assert outcome.asked == ""  # nothing is measured on it


def test_refuses_an_image_without_the_tools(folder: Path) -> None:
    (folder / "fakes" / "nccom-test").unlink()
    outcome = gate(folder)
    assert outcome.codes == [1, 0]
    assert "refused: the image has no nccom-test" in outcome.log
    (folder / "fakes" / "fi_info").unlink()
    assert "node 0: the image has no fi_info" in gate(folder).log


def test_refuses_when_a_node_is_not_heard_of(folder: Path) -> None:
    outcome = gate(folder, "--patience", "1", nodes=3, absent=2)
    assert outcome.codes[0] == 1
    assert "nothing was heard of node 2 in 1 s" in outcome.log


def test_a_node_of_another_job_is_none_of_this_one(folder: Path) -> None:
    outcome = gate(folder, "--patience", "2", node1={"AWS_BATCH_JOB_ID": "job-2#1"})
    assert outcome.codes[0] == 1
    assert "nothing was heard of node 1" in outcome.log


@pytest.mark.parametrize(
    ("options", "codes"),
    [
        (["--least-bandwidth", "47.09", "--most-latency", "840"], [0, 0]),
        (["--least-bandwidth", "47.1"], [1, 0]),
        (["--most-latency", "839"], [1, 0]),
    ],
)
def test_holds_what_was_measured_against_the_bounds(
    folder: Path, options: list[str], codes: list[int]
) -> None:
    outcome = gate(folder, *options)
    assert outcome.codes == codes, outcome.log
    assert "47.09 GiB/s at 1 GiB, 840.0 us at 1 KiB" in outcome.log


@pytest.mark.parametrize("head", ["time(us)", "time:avg(us)", "time:p50(us)"])
def test_reads_the_table_of_old_and_new_releases(folder: Path, head: str) -> None:
    assert gate(folder, node0={"FAKE_HEAD": head}).codes == [0, 0]


def test_refuses_when_the_measurement_fails_or_hangs(folder: Path) -> None:
    failed = gate(folder, node0={"FAKE_FAILURE": "yes"})
    assert failed.codes == [1, 0]
    assert "Failure running neuron-bench" in failed.log  # its own words, for whoever reads the log
    assert "refused: nccom-test failed" in failed.log
    hung = gate(folder, "--patience", "2", node0={"FAKE_HANG": "yes"})
    assert hung.codes == [1, 0]
    assert "refused: nccom-test hung for 2 s" in hung.log


def test_one_node_measures_itself(folder: Path) -> None:
    outcome = gate(folder, nodes=1)
    assert outcome.codes == [0]
    assert "--hosts" not in outcome.asked


def test_without_neuroncores_only_the_interfaces_are_counted(folder: Path) -> None:
    outcome = gate(folder, "--ranks-per-node", "0")
    assert (outcome.codes, outcome.asked) == ([0, 0], "")
    assert gate(folder, "--ranks-per-node", "0", node1={"FAKE_EFA": "1"}).codes[0] == 1
