"""Array children that start the launcher of multi-node jobs: real processes on one machine."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from unittest.mock import MagicMock

import pytest

from ultracluster_runtime.array_rendezvous.child import _own_address, _place, node_variables
from ultracluster_runtime.array_rendezvous.places import Bucket, Folder
from ultracluster_runtime.array_rendezvous.rendezvous import Child, Start

LAUNCHER = Path(__file__).parents[4] / "constructs/ultracluster/scripts/launch.py"
NAMES = ("NODE_RANK", "NNODES", "MASTER_ADDR", "MASTER_PORT", "NEURON_RT_ROOT_COMM_ID")
TELL = f"import json, os; print('told ' + json.dumps([os.environ.get(n) for n in {NAMES}]), flush=True); {{}}"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def start(
    place: Path,
    size: int,
    attempt: int,
    then: str,
    port: int,
    *,
    launcher: Sequence[str] = (sys.executable, str(LAUNCHER), "raw"),
) -> list[subprocess.Popen[str]]:
    children = []
    for index in range(size):
        environment = {
            **os.environ,
            # As the launcher of a child sets them, for which it is a job on one node.
            "NNODES": "1",
            "NODE_RANK": "0",
            "NEURON_RT_ROOT_COMM_ID": "127.0.0.1:1",
            "AWS_BATCH_JOB_ID": f"0b8e2d0a-job:{index}",
            "AWS_BATCH_JOB_ARRAY_INDEX": str(index),
            "AWS_BATCH_JOB_ATTEMPT": str(attempt),
            "UC_ARRAY_NODES": str(size),
            "UC_RENDEZVOUS_PLACE": str(place),
            "UC_RENDEZVOUS_ADDRESS": "127.0.0.1",
            "UC_RENDEZVOUS_POLL": "0.05",
            "UC_RENDEZVOUS_DEADLINE": "20",
            "UC_RENDEZVOUS_LEASE": "1.5",
            "UC_RENDEZVOUS_PORT": str(port),
            "UC_LOST_SECONDS": "6",
        }
        program = [*launcher, sys.executable, "-c", TELL.format(then)]
        children.append(
            subprocess.Popen(
                [sys.executable, "-m", "ultracluster_runtime.array_rendezvous.child", *program],
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                start_new_session=True,
            )
        )
    return children


def ended(children: list[subprocess.Popen[str]]) -> list[tuple[int, str, str]]:
    texts = [one.communicate(timeout=60) for one in children]
    return [(one.returncode, *text) for one, text in zip(children, texts, strict=True)]


def told(out: str) -> list[str | None]:
    found: list[str | None] = json.loads(out.partition("told ")[2].splitlines()[0])
    return found


@pytest.mark.slow
def test_launcher_sees_ranks_and_the_address_of_child_0(tmp_path: Path) -> None:
    port = free_port()
    results = ended(start(tmp_path, 3, 2, "", port))
    assert [code for code, _, _ in results] == [0, 0, 0], results
    ranks, sizes, addresses, ports, _ = zip(*(told(out) for _, out, _ in results), strict=True)
    assert (ranks, sizes) == (("0", "1", "2"), ("3", "3", "3"))
    assert set(addresses[1:]) == {"127.0.0.1"}  # the main node takes its own address from its routes
    assert set(ports) == {str(port + 3)}
    for index, (_, _, err) in enumerate(results):
        assert f"child {index} of 3, attempt 2, waits for the others" in err
        assert "all children succeeded" in err


@pytest.mark.slow
def test_program_that_sets_its_own_ranks_inherits_none_of_a_job_on_one_node(tmp_path: Path) -> None:
    ((code, out, err),) = ended(start(tmp_path, 1, 1, "", free_port(), launcher=()))  # as torchrun would be

    assert code == 0, err
    assert (
        dict(zip(NAMES, told(out), strict=True)).items()
        >= {
            "NODE_RANK": None,
            "NNODES": None,
            "NEURON_RT_ROOT_COMM_ID": None,
        }.items()
    )


def wait_for_sign_of_life(place: Path, index: int) -> None:
    deadline = time.monotonic() + 30
    while not (place / f"0b8e2d0a-job/0001/beat/{index}").exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.slow
@pytest.mark.parametrize("lost", [0, pytest.param(1, marks=pytest.mark.deep)])
def test_lost_host_ends_all_children_with_the_code_of_a_lost_node_and_the_next_generation_succeeds(
    tmp_path: Path, lost: int
) -> None:
    children = start(tmp_path, 3, 1, "import time; time.sleep(60)", free_port())
    wait_for_sign_of_life(tmp_path, 2)
    os.killpg(children[lost].pid, signal.SIGKILL)
    assert [child.wait(timeout=60) for index, child in enumerate(children) if index != lost] == [112, 112]
    ended(children)
    again = ended(start(tmp_path, 3, 2, "", free_port()))
    assert [code for code, _, _ in again] == [0, 0, 0], again


@pytest.mark.slow
def test_a_program_that_fails_ends_the_job_with_its_name(tmp_path: Path) -> None:
    then = "import time; os.environ['AWS_BATCH_JOB_NODE_INDEX'] == '1' and os._exit(3); time.sleep(60)"
    for code, _, err in ended(start(tmp_path, 3, 1, then, free_port(), launcher=())):
        assert code == 1
        assert "the program of child 1 ended with exit code 3" in err


@pytest.mark.slow
def test_terminated_child_passes_the_signal_on(tmp_path: Path) -> None:
    then = "import signal, sys, time; signal.signal(15, lambda *_: sys.exit(print('checkpoint', flush=True))); time.sleep(60)"
    (child,) = children = start(tmp_path, 1, 1, then, free_port())
    wait_for_sign_of_life(tmp_path, 0)
    time.sleep(1)
    child.terminate()
    ((code, out, _),) = ended(children)
    assert (code, "checkpoint" in out) == (143, True)


def test_each_generation_has_its_own_name_and_ports() -> None:
    child = Child(job="job", index=2, size=4, attempt=1, nonce="a", address="10.0.0.3")
    first, second = (
        node_variables(child, Start(generation=number, addresses=("10.0.0.1",) * 4, before=0))
        for number in (1, 2)
    )
    assert first == {
        "AWS_BATCH_JOB_ID": "job.1#2",
        "AWS_BATCH_JOB_NUM_NODES": "4",
        "AWS_BATCH_JOB_NODE_INDEX": "2",
        "AWS_BATCH_JOB_MAIN_NODE_INDEX": "0",
        "AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS": "10.0.0.1",
        "MASTER_PORT": first["MASTER_PORT"],
    }
    assert second["AWS_BATCH_JOB_ID"] == "job.2#2"
    assert int(second["MASTER_PORT"]) - int(first["MASTER_PORT"]) >= 3


@pytest.mark.slow
def test_children_meet_in_a_folder_or_in_a_bucket(tmp_path: Path) -> None:
    folder, bucket = _place(str(tmp_path)), _place("s3://arrays/of/cluster")
    assert isinstance(folder, Folder)
    assert isinstance(bucket, Bucket)
    assert (bucket._bucket, bucket._prefix) == ("arrays", "of/cluster/")


def test_the_address_of_a_child_is_that_of_its_route_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    probe = MagicMock(**{"__enter__.return_value.getsockname.return_value": ("10.0.0.3", 41000)})
    monkeypatch.setattr(socket, "socket", lambda *_: probe)
    assert _own_address() == "10.0.0.3"
