"""Containers of job definitions, and what jobs override in them."""

from typing import Any

import pytest
from tests.refusals import said
from tests.services.batch.training_queue import SIZE

from ultracluster_local.services.batch.containers import (
    check_container,
    check_environment,
    check_fargate_size,
    check_requirements,
    quantity,
)

pytestmark = pytest.mark.deploy  # imports moto

FARGATE = {**SIZE, "executionRoleArn": "arn:aws:iam::123456789012:role/r"}
FARGATE["resourceRequirements"] = [{"type": "VCPU", "value": "0.25"}, {"type": "MEMORY", "value": "512"}]


def needs(*requirements: tuple[str, str]) -> dict[str, Any]:
    return {
        "image": "x",
        "resourceRequirements": [{"type": kind, "value": value} for kind, value in requirements],
    }


@pytest.mark.parametrize(
    ("container", "fargate"),
    [
        (SIZE, False),
        ({"image": "x", "vcpus": 2, "memory": 4}, False),
        (SIZE | {"user": "1000:nodes_1", "volumes": [{"name": "data"}, {"name": "more"}]}, False),
        (SIZE | {"ulimits": [{"name": "memlock", "softLimit": -1, "hardLimit": -1}]}, False),
        (SIZE | {"linuxParameters": {"swappiness": 0, "maxSwap": 0, "sharedMemorySize": 1}}, False),
        (SIZE | {"logConfiguration": {"logDriver": "fluentd"}}, False),
        (FARGATE, True),
        (FARGATE | {"ephemeralStorage": {"sizeInGiB": 21}}, True),
    ],
)
def test_a_container_that_can_run_is_taken(container: dict[str, Any], *, fargate: bool) -> None:
    assert said(check_container, container, fargate=fargate) == ""


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
        ({"linuxParameters": {"maxSwap": -1}}, "maxSwap"),
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
    assert words in said(check_container, SIZE | more, fargate=False)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"privileged": True}, "privileged is not applicable for Fargate."),
        (
            {"linuxParameters": {"devices": [{"hostPath": "/dev/neuron0"}]}},
            "devices is not applicable for Fargate.",
        ),
        ({"executionRoleArn": None}, "executionRoleArn is required for Fargate."),
        ({"ephemeralStorage": {"sizeInGiB": 20}}, "between 21 and 200 GiB"),
        (
            {"volumes": [{"name": "a", "host": {"sourcePath": "/data"}}]},
            "host is not applicable for Fargate.",
        ),
        ({"logConfiguration": {"logDriver": "fluentd"}}, "Log driver fluentd is not supported for Fargate"),
        (needs(("VCPU", "1"), ("MEMORY", "2048"), ("GPU", "1")), "GPU is not applicable for Fargate."),
    ],
)
def test_a_container_that_cannot_run_on_fargate_is_refused(more: dict[str, Any], words: str) -> None:
    assert words in said(check_container, FARGATE | more, fargate=True)


@pytest.mark.parametrize(
    ("container", "words"),
    [
        (needs(("VCPU", "1"), ("VCPU", "2")), "each type can be specified only once"),
        (needs(("NEURON", "1")), "Resource requirement type NEURON is not valid"),
        (needs(("VCPU", "0.25")), "Value 0.25 for type VCPU in resourceRequirement is not valid"),
        (needs(("VCPU", "0")), "vCPU must be at least 1"),
        (needs(("MEMORY", "3")), "Memory must be at least 4 MiB"),
        (needs(("GPU", "0")), "Value 0 for type GPU"),
    ],
)
def test_a_requirement_is_a_whole_number_of_a_known_resource(container: dict[str, Any], words: str) -> None:
    assert words in said(check_requirements, container)


@pytest.mark.parametrize(
    ("missing", "words"), [("VCPU", "vCPU is not provided."), ("MEMORY", "Memory is not provided")]
)
def test_vcpus_and_memory_are_required_unless_another_container_has_them(missing: str, words: str) -> None:
    container = needs(*(pair for pair in (("VCPU", "1"), ("MEMORY", "512")) if pair[0] != missing))

    assert words in said(check_container, container, fargate=False)
    assert said(check_container, container, fargate=False, sized=False) == ""


@pytest.mark.parametrize(
    ("vcpus", "memory", "taken"),
    [("0.25", "512", True), ("0.25", "4096", False), ("1.0", "2048", True), ("8", "16384", True), ("8", "17408", False), ("3", "8192", False)],
)  # fmt: skip
def test_fargate_combines_vcpus_with_some_amounts_of_memory(vcpus: str, memory: str, *, taken: bool) -> None:
    words = said(check_fargate_size, needs(("VCPU", vcpus), ("MEMORY", memory)))

    assert (words == "") is taken
    assert taken or f"({float(vcpus):.2f} vCPU, {memory} MiB) not valid" in words


def test_a_quantity_may_be_an_older_parameter() -> None:
    assert quantity({"vcpus": 4}, "VCPU") == "4"
    assert quantity(needs(("VCPU", "2")) | {"vcpus": 4}, "VCPU") == "2"
    assert quantity({"vcpus": 4}, "GPU") is None


def test_variables_of_other_names_are_taken() -> None:
    assert said(check_environment, {"environment": [{"name": "MY_AWS_BATCH"}, {}]}) == ""
