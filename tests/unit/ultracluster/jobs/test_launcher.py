"""Launchers start the processes of a job."""

from typing import Any

import aws_cdk as cdk
import pytest
from tests.unit.ultracluster.jobs.multi_node_jobs import container, environment, job

from ultracluster_spec.findings import FindingsError

pytestmark = pytest.mark.slow


def test_starts_one_process_per_logical_neuroncore_by_default(stack: cdk.Stack) -> None:
    job(stack)
    assert environment(stack)["UC_PROCESSES_PER_NODE"] == "64"


def test_starts_the_requested_number_of_processes(stack: cdk.Stack) -> None:
    job(stack, processes_per_node=16)
    assert environment(stack)["UC_PROCESSES_PER_NODE"] == "16"


def test_jax_gets_one_process_and_the_devices_of_a_node(stack: cdk.Stack) -> None:
    job(stack, launcher="jax", command=["python3", "train.py"], processes_per_node=1)
    assert environment(stack)["UC_PROCESSES_PER_NODE"] == "1"
    assert environment(stack)["UC_DEVICES_PER_NODE"] == "64"
    assert container(stack)["Command"][2:] == ["jax", "python3", "train.py"]


def test_a_raw_program_only_gets_basic_variables(stack: cdk.Stack) -> None:
    job(stack, launcher="raw", command=["run"])
    assert container(stack)["Command"][2:] == ["raw", "run"]


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"launcher": "jax", "processes_per_node": 64}, "UC6140"),
        ({"launcher": "raw", "processes_per_node": 2}, "UC6140"),
        ({"launcher": "mpirun"}, r"UC1023: \S+: launcher: got 'mpirun'.*torchrun, jax, raw"),
        ({"command": []}, "UC6142"),
    ],
)
def test_rejects_what_a_launcher_cannot_start(stack: cdk.Stack, changes: dict[str, Any], code: str) -> None:
    with pytest.raises(FindingsError, match=code):
        job(stack, **changes)


def test_the_command_comes_after_the_launcher(stack: cdk.Stack) -> None:
    job(stack)
    launcher = ["python3", "/run/ultracluster/launch", "torchrun"]
    assert container(stack)["Command"] == [*launcher, "train.py", "--steps", "10"]
