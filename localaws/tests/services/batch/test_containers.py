"""Containers of job definitions, and what jobs override in them."""

from typing import Any

import pytest
from tests.refusals import said, said_of_values
from tests.services.batch.training_queue import SIZE

from ultracluster_local.services.batch.containers import (
    check_container,
    check_requirements,
    quantity,
)

pytestmark = pytest.mark.slow  # imports moto


def needs(*requirements: tuple[str, str]) -> dict[str, Any]:
    return {
        "image": "x",
        "resourceRequirements": [{"type": kind, "value": value} for kind, value in requirements],
    }


def refused(container: dict[str, Any], **settings: Any) -> str:
    """Return what is said of a container, by the rules of values.toml or by those of its kind."""
    of_values = said_of_values("batch", "RegisterJobDefinition", containerProperties=container)
    return of_values or said(check_container, container, **settings)


@pytest.mark.parametrize(
    "container",
    [
        SIZE,
        {"image": "x", "vcpus": 2, "memory": 4},
        SIZE | {"user": "1000:nodes_1", "volumes": [{"name": "data"}, {"name": "more"}]},
        SIZE | {"ulimits": [{"name": "memlock", "softLimit": -1, "hardLimit": -1}]},
        SIZE | {"linuxParameters": {"swappiness": 0, "maxSwap": 0, "sharedMemorySize": 1}},
        SIZE | {"logConfiguration": {"logDriver": "fluentd"}},
    ],
)
def test_a_container_that_can_run_is_taken(container: dict[str, Any]) -> None:
    assert refused(container) == ""


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"image": ""}, "Container image is required"),
        ({"image": "x" * 256}, "up to 255 characters"),
        ({"user": "UPPER"}, "User 'UPPER' does not match regex"),
        ({"environment": [{"name": "AWS_BATCH_JOB"}]}, 'cannot start with "AWS_BATCH": AWS_BATCH_JOB'),
        ({"volumes": [{"name": "a"}, {"name": "a"}]}, "Volume names must be unique"),
        ({"volumes": [{"name": "a b"}]}, "Volume name a b should match valid pattern"),
        (
            {"ulimits": [{"name": "colour", "softLimit": 1, "hardLimit": 1}]},
            "Ulimit name colour is not valid",
        ),
        ({"ulimits": [{"name": "core", "softLimit": 2, "hardLimit": 1}]}, "softLimit must not be greater"),
        ({"linuxParameters": {"maxSwap": -1}}, "Invalid swap memory size: -1, must be non-negative."),
        ({"linuxParameters": {"swappiness": 101}}, "between 0 and 100"),
        ({"linuxParameters": {"sharedMemorySize": 0}}, "sharedMemorySize must be at least 1 MiB"),
        ({"logConfiguration": {"logDriver": "paper"}}, "Log driver paper is not supported,"),
        (
            {"networkConfiguration": {"assignPublicIp": "ENABLED"}},
            "networkConfiguration not applicable for EC2.",
        ),
        ({"ephemeralStorage": {"sizeInGiB": 21}}, "ephemeralStorage not applicable for EC2."),
    ],
)
def test_a_container_that_cannot_run_on_ec2_is_refused(more: dict[str, Any], words: str) -> None:
    assert words in refused(SIZE | more)


@pytest.mark.parametrize(
    ("container", "words"),
    [
        (needs(("VCPU", "1"), ("VCPU", "2")), "Cannot provide duplicates in resourceRequirements."),
        (needs(("NEURON", "1")), "Resource requirement type NEURON is not valid"),
        (needs(("VCPU", "0.25")), "Value 0.25 for type VCPU in resourceRequirement is not valid"),
        (needs(("VCPU", "0")), "vCPU must be at least 1"),
        (needs(("MEMORY", "3")), "Memory must be at least 4 Mib, got 3 Mib."),
        (needs(("GPU", "0")), "Value 0 for type GPU"),
    ],
)
def test_a_requirement_is_a_whole_number_of_a_known_resource(container: dict[str, Any], words: str) -> None:
    assert words in (
        said_of_values("batch", "SubmitJob", containerOverrides=container)
        or said(check_requirements, container)
    )


@pytest.mark.parametrize(
    ("missing", "words"), [("VCPU", "vCPU is not provided."), ("MEMORY", "Memory is not provided")]
)
def test_vcpus_and_memory_are_required_unless_another_container_has_them(missing: str, words: str) -> None:
    container = needs(*(pair for pair in (("VCPU", "1"), ("MEMORY", "512")) if pair[0] != missing))

    assert words in refused(container)
    assert refused(container, sized=False) == ""


def test_a_quantity_may_be_an_older_parameter() -> None:
    assert quantity({"vcpus": 4}, "VCPU") == "4"
    assert quantity(needs(("VCPU", "2")) | {"vcpus": 4}, "VCPU") == "2"
    assert quantity({"vcpus": 4}, "GPU") is None


def test_variables_of_other_names_are_taken() -> None:
    assert (
        said_of_values(
            "batch", "SubmitJob", containerOverrides={"environment": [{"name": "MY_AWS_BATCH"}, {}]}
        )
        == ""
    )
