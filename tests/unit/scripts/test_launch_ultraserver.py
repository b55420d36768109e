"""The place of a node in its UltraServer, read from files as the Neuron driver shows them.

The files are stand-ins, in the form that the script of the Neuron documentation reads them.
"""

import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

LAUNCHER = Path(__file__).parents[3] / "constructs/ultracluster/scripts/launch.py"


@pytest.fixture
def driver(tmp_path: Path) -> Path:
    (tmp_path / "ultraserver_mode").write_text("1,2,3,4\n")
    for group in (2, 4):
        (tmp_path / f"server_id_{group}").write_text(f"00000000abcd000{group}\n")
        (tmp_path / f"node_id_{group}").write_text(f"{group - 1}\n")
    return tmp_path


def place(driver: Path, nodes: int) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["python3", str(LAUNCHER), "raw", "bash", "-c", "env | grep ^NEURON_RT_ULTRA | sort"],
        env={
            "PATH": "/usr/bin:/bin",
            "AWS_BATCH_JOB_NUM_NODES": str(nodes),
            "UC_ULTRASERVER_NODES": "4",
            "UC_NEURON_CLASS": str(driver),
            "UC_LOST_SECONDS": "0",
        },
        text=True,
        capture_output=True,
        check=False,
        timeout=20,
    )


@pytest.mark.parametrize(
    ("nodes", "mode", "server", "node"),
    [
        (1, "4", "0000000000000000", "-1"),
        (2, "3", "00000000abcd0002", "1"),
        (4, "1", "00000000abcd0004", "3"),
        (8, "1", "00000000abcd0004", "3"),
    ],
)
def test_the_runtime_gets_mode_server_and_node(
    driver: Path, nodes: int, mode: str, server: str, node: str
) -> None:
    done = place(driver, nodes)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [
        f"NEURON_RT_ULTRASERVER_MODE={mode}",
        f"NEURON_RT_ULTRASERVER_NODE_ID={node}",
        f"NEURON_RT_ULTRASERVER_SERVER_ID={server}",
    ]
    assert f"UltraServer {server}, node {node}" in done.stderr


def test_two_nodes_in_a_row_are_the_second_choice(driver: Path) -> None:
    (driver / "ultraserver_mode").write_text("2 4\n")
    assert "NEURON_RT_ULTRASERVER_MODE=2" in place(driver, 2).stdout


def test_a_node_alone_needs_no_driver_that_knows_ultraservers(tmp_path: Path) -> None:
    assert "NEURON_RT_ULTRASERVER_MODE=4" in place(tmp_path, 1).stdout


@pytest.mark.parametrize("missing", ["ultraserver_mode", "server_id_4", "node_id_4"])
def test_a_node_that_is_not_joined_ends_the_job(driver: Path, missing: str) -> None:
    (driver / missing).unlink()
    done = place(driver, 4)
    assert done.returncode == 1
    assert "not joined with 3 others" in done.stderr
    assert done.stdout == ""


def test_a_node_that_cannot_be_one_of_four_ends_the_job(driver: Path) -> None:
    (driver / "ultraserver_mode").write_text("2 3 4\n")
    assert place(driver, 4).returncode == 1


@pytest.mark.parametrize("nodes", [3, 5, 6])
def test_other_numbers_of_nodes_are_refused(driver: Path, nodes: int) -> None:
    done = place(driver, nodes)
    assert done.returncode == 1
    assert f"{nodes} nodes are neither" in done.stderr
