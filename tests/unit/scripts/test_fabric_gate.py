"""The fabric gate runs here for real, as its job starts it, with fakes for fi_info and nccom-test (tests/unit/scripts/fakes)."""

from pathlib import Path

import pytest
from tests.unit.scripts.fabric import Outcome, gate, prepare

pytestmark = pytest.mark.slow


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return prepare(tmp_path)


def test_accepts_a_complete_fabric_and_logs_the_measurements(folder: Path) -> None:
    outcome = gate(folder, nodes=3)
    assert outcome.codes == [0, 0, 0], outcome.log
    assert "measured 47.09 GiB/s at 1 GiB, 840.0 us at 1 KiB" in outcome.log
    assert outcome.log.endswith("fabric gate: passed\n")


def test_measures_over_all_nodes_without_ssh(folder: Path) -> None:
    outcome = gate(folder, nodes=3)
    first, check = outcome.asked.splitlines()
    assert first.partition(" ")[2].startswith("-r 192 -N 3 -d fp32 allr --minbytes 1024 ")
    assert first.endswith(" 127.0.0.3 127.0.0.4")  # in the order of the nodes, behind the main node
    # A value could follow --check (Neuron documentation, nccom-test, 2026-08), so it must not stand before a word.
    assert " --minbytes 1048576 --maxbytes 1048576 --check --non-interactive " in check
    assert outcome.measured == ["1", "2"]  # the other nodes started what the main node's MPI sent


@pytest.mark.parametrize(
    ("node", "variables", "problem"),
    [
        ("node1", {"FAKE_EFA": "3"}, "node 1 (127.0.0.3): libfabric sees 3 EFA interfaces of 4"),
        ("node0", {"FAKE_EFA": "5"}, "libfabric sees 5 EFA interfaces of 4"),
        ("node1", {"FAKE_PROVIDER": "tcp"}, "node 1 (127.0.0.3): libfabric offers tcp"),
    ],
)
def test_refuses_when_one_node_lacks_efa_and_names_it(
    folder: Path, node: str, variables: dict[str, str], problem: str
) -> None:
    outcome = gate(folder, **{node: variables})
    assert outcome.codes[0] == 1  # the main node's failure is the job's
    assert "refused: " in outcome.log
    assert problem in outcome.log
    assert outcome.asked == ""  # nothing is measured on it


def test_refuses_an_image_without_the_tools(folder: Path) -> None:
    (folder / "fakes" / "nccom-test").unlink()
    outcome = gate(folder)
    assert outcome.codes == [1, 1]
    assert "refused: the image has no nccom-test" in outcome.log
    (folder / "fakes" / "fi_info").unlink()
    assert "node 0: the image has no fi_info" in gate(folder).log


def test_refuses_when_a_node_is_not_heard_of(folder: Path) -> None:
    outcome = gate(folder, "patience=1", nodes=3, absent=2)
    assert outcome.codes[0] == 1
    assert "nothing was heard of node 2 in 1 s" in outcome.log


def test_a_node_of_another_job_is_none_of_this_one(folder: Path) -> None:
    theirs = {"AWS_BATCH_JOB_ID": "job-2#1", "UC_LOST_SECONDS": "0.6"}  # how soon it gives up
    outcome = gate(folder, "patience=2", node1=theirs)
    assert outcome.codes[0] == 1
    assert "nothing was heard of node 1" in outcome.log


@pytest.mark.parametrize(
    ("options", "code"),
    [(["bandwidth=47.09", "latency=840"], 0), (["bandwidth=47.1"], 1), (["latency=839"], 1)],
)
def test_holds_what_was_measured_against_the_bounds(folder: Path, options: list[str], code: int) -> None:
    outcome = gate(folder, *options, nodes=1)
    assert outcome.codes == [code], outcome.log
    assert "47.09 GiB/s at 1 GiB, 840.0 us at 1 KiB" in outcome.log


@pytest.mark.parametrize("head", ["time(us)", "time:avg(us)", "time:p50(us)"])
def test_reads_the_table_of_old_and_new_releases(folder: Path, head: str) -> None:
    assert gate(folder, nodes=1, node0={"FAKE_HEAD": head}).codes == [0]


def test_a_warning_of_open_mpi_is_no_failure(folder: Path) -> None:
    outcome = gate(folder, nodes=1, node0={"FAKE_WARNING": "yes"})
    assert "setpgid(30774,30774) failed" in outcome.log
    assert outcome.codes == [0]


def test_refuses_when_the_measurement_fails_or_hangs(folder: Path) -> None:
    failed = gate(folder, node0={"FAKE_FAILURE": "yes"})
    assert failed.codes == [1, 1]
    assert "Failure running neuron-bench" in failed.log  # its own words, for whoever reads the log
    assert "refused: nccom-test failed" in failed.log
    hung = gate(folder, "patience=2", node0={"FAKE_HANG": "yes"})
    assert hung.codes == [1, 1]
    assert "refused: nccom-test hung for 2 s" in hung.log


def test_one_node_measures_itself(folder: Path) -> None:
    outcome = gate(folder, nodes=1)
    assert outcome.codes == [0]
    assert "--hosts" not in outcome.asked


def test_without_neuroncores_only_the_interfaces_are_counted(folder: Path) -> None:
    outcome = gate(folder, "ranks=0")
    assert (outcome.codes, outcome.asked) == ([0, 0], "")
    assert gate(folder, "ranks=0", node1={"FAKE_EFA": "1"}).codes[0] == 1


def pairs(outcome: Outcome) -> set[str]:
    """The hosts of each run of nccom-test over two nodes."""
    return {line.partition(" --hosts ")[2] for line in outcome.asked.splitlines() if " -N 2 " in line}


def test_names_the_pair_that_fails_by_itself(folder: Path) -> None:
    outcome = gate(folder, nodes=4, node0={"FAKE_BAD_HOST": "127.0.0.5"})
    assert outcome.codes[0] == 1
    assert len(pairs(outcome)) == 2
    assert "node 2 (127.0.0.4), node 3 (127.0.0.5): nccom-test failed" in outcome.log
    assert "node 1 (127.0.0.3): nccom-test failed" not in outcome.log
    # Neuron's root of a group is its own first node (Neuron documentation, nccom-test, MPI execution).
    assert any(line.startswith("127.0.0.4:") for line in outcome.asked.splitlines())


def test_says_so_when_every_pair_is_sound_by_itself(folder: Path) -> None:
    # Only all four together: both hosts of the fault are never in one pair.
    outcome = gate(folder, nodes=4, node0={"FAKE_BAD_HOST": "127.0.0.3 127.0.0.4"})
    assert outcome.codes[0] == 1
    assert outcome.log.rstrip().endswith("refused: nccom-test failed; its output is above")


def test_groups_of_ultraservers_are_never_smaller_than_one(folder: Path) -> None:
    outcome = gate(folder, "group=4", nodes=4, node0={"FAKE_BAD_HOST": "127.0.0.5"})
    assert outcome.codes[0] == 1
    assert pairs(outcome) == set()


def test_refuses_sums_that_are_wrong(folder: Path) -> None:
    outcome = gate(folder, nodes=2, node0={"FAKE_BAD_SUMS": "127.0.0.3"})
    assert outcome.codes[0] == 1
    assert "refused: nccom-test found wrong sums" in outcome.log
