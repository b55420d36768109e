"""Constraints of the containers of AWS Batch job definitions, and of what a job overrides in them.

Unless a line says otherwise, they are those of API_ContainerProperties, API_ResourceRequirement and
API_TaskContainerProperties, as botocore 1.44.5 has them, in the words that AWS answered to badmintoncryer/cdk-preflight,
rules/batch (2026-09), where it did.
"""

from collections.abc import Mapping
from typing import Any

from ultracluster_local.services.batch.state import refused

__all__ = [
    "check_container",
    "check_requirements",
    "containers_of_task",
    "quantity",
    "task_of",
    "with_lists",
]

_LEAST_MEMORY = 4
_BEFORE_EFS = frozenset({"1.0.0", "1.1.0", "1.2.0", "1.3.0"})
_FARGATE_MEMORY = {
    "0.25": (512, 1024, 2048),
    "0.5": range(1024, 4097, 1024),
    "1": range(2048, 8193, 1024),
    "2": range(4096, 16_385, 1024),
    "4": range(8192, 30_721, 1024),
    "8": range(16_384, 61_441, 4096),
    "16": range(32_768, 122_881, 8192),
}
"""Memory in MiB by vCPUs: API_ResourceRequirement, value."""


def quantity(container: Mapping[str, Any], kind: str) -> str | None:
    """Return how much of a resource a container requires, also by the older parameters ``vcpus`` and ``memory``."""
    for one in container.get("resourceRequirements") or []:
        if one["type"] == kind:
            return str(one["value"])
    older = container.get({"VCPU": "vcpus", "MEMORY": "memory"}.get(kind, ""))
    return None if older is None else str(older)


_FILLED = frozenset({"ContainerProperties", "EcsTaskProperties", "RetryStrategy"})


def with_lists(given: Any, shape: Any, *, filled: bool = False) -> Any:
    """Return settings with the empty lists and the small letters that AWS Batch answers.

    hashicorp/terraform-provider-aws, internal/service/batch: container_properties.go and job_definition_test.go.

    Args:
        given: Settings in the form of `shape`, a shape of botocore.
        shape: Their shape.
        filled: Whether it is in a container or a retry strategy. Default: as the shape says.
    """
    if shape.type_name == "list":
        if shape.name == "EnvironmentVariables":  # hashicorp/terraform-provider-aws#26960
            given = [one for one in given if one.get("value")]
        return [with_lists(one, shape.member, filled=filled) for one in given]
    if shape.type_name != "structure":
        return given.lower() if shape.name == "RetryAction" else given
    filled = filled or shape.name in _FILLED
    empty: dict[str, Any] = {
        name: [] for name, one in shape.members.items() if filled and one.type_name == "list"
    }
    return empty | {key: with_lists(part, shape.members[key], filled=filled) for key, part in given.items()}


def task_of(job: Mapping[str, Any]) -> dict[str, Any]:
    """Return the task of a job of several containers; empty for other jobs."""
    tasks: list[dict[str, Any]] = (job.get("ecsProperties") or {}).get("taskProperties") or [{}]
    return tasks[0]


def containers_of_task(job: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the containers of a job on one node."""
    return task_of(job).get("containers") or [job["container"]]


def check_container(container: Mapping[str, Any], *, sized: bool = True, fargate: bool = False) -> None:
    """Refuse an invalid container.

    Args:
        container: Container properties.
        sized: Whether vCPUs and memory are required. Default: yes.
        fargate: Whether it runs on AWS Fargate. Default: on instances.

    Raises:
        ServiceError: If it is invalid.
    """
    if not container.get("image"):
        raise refused("Container image is required")
    check_requirements(container, fargate=fargate)
    if sized:
        if quantity(container, "VCPU") is None:  # AWS's error message, from ASFHyP3/hyp3#586
            raise refused("vCPU is not provided.")
        if quantity(container, "MEMORY") is None:
            raise refused("Memory is not provided: a memory hard limit must be specified, of at least 4 MiB.")
    _check_volumes(container)
    _check_limits(container)
    _check_platform(container, fargate=fargate)


def _check_platform(container: Mapping[str, Any], *, fargate: bool) -> None:
    logging, linux = container.get("logConfiguration") or {}, container.get("linuxParameters") or {}
    if linux.get("maxSwap") is not None and linux.get("swappiness") is None:
        raise refused("When container specified swap memory, swappiness value is required.")
    if not container.get("executionRoleArn"):
        if container.get("secrets") or logging.get("secretOptions"):
            raise refused("executionRoleArn cannot be empty when using secrets or secretOptions")
        if fargate:
            raise refused("executionRoleArn is required for Fargate jobs.")
    version = (container.get("fargatePlatformConfiguration") or {}).get("platformVersion")
    if version in _BEFORE_EFS and any(
        one.get("efsVolumeConfiguration") for one in container.get("volumes") or []
    ):
        raise refused(f"EFS is supported for Fargate platform versions 1.4.0 or later, provided {version}")


def _check_kinds(container: Mapping[str, Any]) -> None:
    kinds = [one["type"] for one in container.get("resourceRequirements") or []]
    if len(set(kinds)) < len(kinds):
        raise refused("Cannot provide duplicates in resourceRequirements.")
    for older, kind in (("vcpus", "VCPU"), ("memory", "MEMORY")):
        if container.get(older) and kind in kinds:
            raise refused(f"Cannot use both ECS containerProperties {older} and resourceRequirement {kind}.")


def check_requirements(container: Mapping[str, Any], *, fargate: bool = False) -> None:
    """Refuse invalid resource requirements.

    Args:
        container: Container properties, or overrides of them.
        fargate: Whether it runs on AWS Fargate. Default: on instances.

    Raises:
        ServiceError: If they are invalid.
    """
    _check_kinds(container)
    for one in container.get("resourceRequirements") or []:
        kind, value = one["type"], str(one["value"])
        if not (value.isdigit() or (fargate and kind == "VCPU" and value in _FARGATE_MEMORY)):
            # AWS's error message, from kestra-io/plugin-aws#504
            raise refused(
                f"Value {value} for type {kind} in resourceRequirement is not valid. Please provide a numeric value."
            )
    memory = quantity(container, "MEMORY")
    if memory is not None and int(memory) < _LEAST_MEMORY:
        raise refused(f"Memory must be at least {_LEAST_MEMORY} Mib, got {memory} Mib.")
    vcpus = quantity(container, "VCPU")
    if vcpus is not None and float(vcpus) <= 0:
        raise refused(f"vCPU must be at least 1, got {vcpus}.")
    if fargate and vcpus is not None and memory is not None:
        allowed = _FARGATE_MEMORY.get(vcpus.removesuffix(".0"), ())
        if int(memory) not in allowed:
            raise refused(f"MEMORY {memory} is not valid on Fargate with {vcpus} vCPU")
    if quantity(container, "GPU") == "0":
        raise refused("Value 0 for type GPU in resourceRequirement is not valid.")


def _check_volumes(container: Mapping[str, Any]) -> None:
    names = [one.get("name") for one in container.get("volumes") or []]
    if len(set(names)) < len(names):
        raise refused("Volume names must be unique")
    if None in names:
        raise refused("Volume name None should match valid pattern")
    for volume in container.get("volumes") or []:
        if sum(bool(part) for name, part in volume.items() if name != "name") > 1:
            raise refused(
                "When the volume parameter is specified, only one volume configuration type should be used."
            )
        _check_efs(volume.get("efsVolumeConfiguration") or {})
    for mount in container.get("mountPoints") or []:
        if mount.get("sourceVolume") not in names:  # Amazon ECS has these words for a task definition
            raise refused(f"Unknown volume '{mount.get('sourceVolume')}'.")


def _check_efs(volume: Mapping[str, Any]) -> None:
    authorization = volume.get("authorizationConfig") or {}
    encrypted = volume.get("transitEncryption") == "ENABLED"
    for used, what in (("accessPointId", "access point"), ("iam", "authorization")):
        if not encrypted and authorization.get(used) not in {None, "", "DISABLED"}:
            raise refused(f"EFS IAM {what} requires TransitEncryption to be enabled.")
    root = volume.get("rootDirectory")
    if authorization.get("accessPointId") and root not in {None, "", "/"}:
        raise refused(
            'When using an EFS access point, the root directory must either be set to "/" or omitted'
        )


def _check_limits(container: Mapping[str, Any]) -> None:
    for limit in container.get("ulimits") or []:
        if limit["softLimit"] > limit["hardLimit"] >= 0:
            raise refused(f"Ulimit {limit['name']}: softLimit must not be greater than hardLimit")
