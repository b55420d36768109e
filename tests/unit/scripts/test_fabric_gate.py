"""The fabric gate runs here for real, as its job starts it, with fakes for fi_info and nccom-test (tests/unit/scripts/fakes)."""

from pathlib import Path

import pytest
from tests.unit.scripts.fabric import gate, prepare

pytestmark = pytest.mark.process


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return prepare(tmp_path)


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
