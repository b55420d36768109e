"""Launchers start the processes of a job."""

import aws_cdk as cdk
import pytest
from tests.unit.ultracluster.jobs.defined_jobs import container, environment, job

pytestmark = pytest.mark.slow


def test_jax_gets_one_process_and_the_devices_of_a_node(stack: cdk.Stack) -> None:
    job(stack, launcher="jax", command=["python3", "train.py"], processes_per_node=1)
    assert environment(stack)["UC_PROCESSES_PER_NODE"] == "1"
    assert environment(stack)["UC_DEVICES_PER_NODE"] == "64"
    assert container(stack)["Command"][2:] == ["jax", "python3", "train.py"]


def test_a_raw_program_only_gets_basic_variables(stack: cdk.Stack) -> None:
    job(stack, launcher="raw", command=["run"])
    assert container(stack)["Command"][2:] == ["raw", "run"]
