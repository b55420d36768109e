"""AWS Batch job definitions. moto drops `nodeProperties`; here a definition is read back as it was registered.

Their constraints are those of API_RegisterJobDefinition, API_RetryStrategy and API_JobTimeout, botocore 1.44.5, in the words
that AWS answered to badmintoncryer/cdk-preflight, rules/batch (2026-09), where it did.
"""

import json
from collections.abc import Mapping
from typing import Any

from ultracluster_local.instance.clients import service_model
from ultracluster_local.services.batch.containers import check_container, quantity, with_lists
from ultracluster_local.services.batch.instance_types import check_instance_types
from ultracluster_local.services.batch.node_ranges import check_node_properties
from ultracluster_local.services.batch.state import batch_of, client_error, refused, settings_of
from ultracluster_local.services.handlers import Handlers, Request, page

__all__ = ["check_retries", "find_definition", "handlers"]

handlers = Handlers(service="batch")

_MOST_BYTES = (
    24 * 1024
)  # AWS Batch quotas, "Maximum job definition size": service_limits.html of the user guide
_MOST_CONTAINERS = 10


@handlers("RegisterJobDefinition")
def register_job_definition(request: Request) -> Mapping[str, Any]:
    """Register a revision of a job definition."""
    given = settings_of(request)
    _check(given)
    batch = batch_of(request.region)
    name = given["jobDefinitionName"]
    revision = batch.revisions[name] = batch.revisions.get(name, 0) + 1
    arn = request.arn("batch", f"job-definition/{name}:{revision}")
    shape = service_model("batch").operation_model(request.operation).input_shape
    if "FARGATE" in given.get("platformCapabilities", []) and "containerProperties" in given:
        given["containerProperties"].setdefault("fargatePlatformConfiguration", {"platformVersion": "LATEST"})
    batch.definitions[arn] = {
        "tags": {},
        "parameters": {},
        "containerOrchestrationType": "ECS",
        **with_lists(given, shape),
        "jobDefinitionArn": arn,
        "revision": revision,
        "status": "ACTIVE",
    }
    return {"jobDefinitionName": name, "jobDefinitionArn": arn, "revision": revision}


def _check(given: Mapping[str, Any]) -> None:
    size = len(json.dumps(given, separators=(",", ":")).encode())
    if size > _MOST_BYTES:
        raise refused(f"Job definition size {size} exceeds the maximum size of {_MOST_BYTES} bytes")
    platforms = given.get("platformCapabilities") or ["EC2"]
    if given.get("eksProperties"):
        raise refused("The local AWS does not simulate Amazon EKS: eksProperties")
    if given["type"] == "multinode":
        _check_multinode(given, platforms)
    else:
        _check_containers(given, fargate="FARGATE" in platforms)
    check_retries(given.get("retryStrategy"))


def _check_multinode(given: Mapping[str, Any], platforms: list[str]) -> None:
    nodes = given.get("nodeProperties")
    if not nodes:
        raise refused("Node properties of multinode job is required.")
    if platforms != ["EC2"]:
        raise refused(f"{platforms[0].replace('FARGATE', 'Fargate')} does not support MNP jobs")
    beside = [name for name in ("containerProperties", "ecsProperties") if given.get(name)]
    if beside:  # API_JobDefinition
        raise refused(
            f"nodeProperties can't be used in addition to {', '.join(beside)} in a multinode job definition"
        )
    _check_nodes(nodes)


def _check_nodes(nodes: Mapping[str, Any]) -> None:
    found = check_node_properties(nodes)
    sized: dict[str, set[int]] = {"VCPU": set(), "MEMORY": set()}
    for node_range, indexes in zip(nodes["nodeRangeProperties"], found, strict=True):
        for container in _containers_of_range(node_range):
            if container.get("instanceType"):
                check_instance_types([container["instanceType"]])
            check_container(container, sized=False)
            for kind, done in sized.items():
                done.update(indexes if quantity(container, kind) is not None else ())
    for kind, words in (("VCPU", "vCPU is not provided."), ("MEMORY", "Memory is not provided.")):
        if sized[kind] != set(range(nodes["numNodes"])):
            raise refused(words)


def _containers_of_range(node_range: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    if node_range.get("eksProperties"):
        raise refused("The local AWS does not simulate Amazon EKS: eksProperties")
    if node_range.get("container") and node_range.get("ecsProperties"):
        raise refused("NodeRangeProperties can not use both ecsProperties and container fields")
    if node_range.get("container") and node_range.get("instanceTypes"):
        raise refused("Using instanceTypes with nodeRangeProperty is only allowed for ecsProperties jobs.")
    containers = _containers_of(node_range, key="container")
    if not containers:
        raise refused(f"Must specify container for node range {node_range['targetNodes']}")
    return containers


def _check_containers(given: Mapping[str, Any], *, fargate: bool) -> None:
    kinds = [key for key in ("containerProperties", "ecsProperties") if given.get(key)]
    if given.get("nodeProperties"):
        raise refused("nodeProperties must not be provided for a container job definition")
    if not kinds:
        raise refused("ECS Container Image must be provided.")
    if len(kinds) > 1:
        raise refused("Cannot use both ECS containerProperties and ecsProperties")
    for container in _containers_of(given, key="containerProperties"):
        if container.get("instanceType"):
            raise refused("instanceType is not applicable for single-node container jobs")
        check_container(container, fargate=fargate)


def _containers_of(given: Mapping[str, Any], *, key: str) -> list[Mapping[str, Any]]:
    """Return the containers of a definition or of a node range; a task's settings are those of its containers."""
    if given.get(key):
        return [given[key]]
    tasks = (given.get("ecsProperties") or {}).get("taskProperties") or []
    if given.get("ecsProperties") and len(tasks) != 1:
        raise refused("ecsProperties is limited to one task element")
    found: list[Mapping[str, Any]] = []
    for task in tasks:
        containers = task.get("containers") or []
        if not 1 <= len(containers) <= _MOST_CONTAINERS:
            raise refused(f"Number of containers must be between 1 and {_MOST_CONTAINERS}")
        drivers = {(one.get("logConfiguration") or {}).get("logDriver") for one in containers}
        if "awsfirelens" in drivers and not any(one.get("firelensConfiguration") for one in containers):
            raise refused(  # hashicorp/terraform-provider-aws#42533
                "When awsfirelens log driver is specified in log configuration, a firelens configuration object must be "
                "configured in one of the containers"
            )
        if not any(one.get("essential", True) for one in containers):
            raise refused("At least one container must be set as essential")
        _check_dependencies(containers)
        found += [{"executionRoleArn": task.get("executionRoleArn"), **one} for one in containers]
    return found


def _check_dependencies(containers: list[Mapping[str, Any]]) -> None:
    names = [one["name"] for one in containers if one.get("name")]
    if len({*names}) < len(names):
        raise refused("Container names must be unique")
    essential = {one.get("name") for one in containers if one.get("essential", True)}
    for one in (part for container in containers for part in container.get("dependsOn") or []):
        if len(containers) == 1:
            raise refused("Container dependency can not be used in a single-container job.")
        if one["containerName"] not in names:
            raise refused(f"containerName {one['containerName']} must reference a defined container.")
        if one["condition"] != "START" and one["containerName"] in essential:
            condition = f"can not have condition {one['condition']} if the target is essential"
            raise refused(f"The container target of a dependency {condition}")


def check_retries(strategy: Mapping[str, Any] | None) -> None:
    """Refuse an invalid retry strategy.

    Raises:
        ServiceError: If it is invalid.
    """
    if strategy is None:
        return
    if (
        strategy.get("attempts") is None
    ):  # AWS's error message, from the tests of hashicorp/terraform-provider-aws
        raise refused("RetryAttempts must be provided with retry strategy")
    conditions = {"onStatusReason", "onReason", "onExitCode"}
    if any(conditions.isdisjoint(one) for one in strategy.get("evaluateOnExit") or []):
        raise refused("EvaluateOnExit should contain at least one of onExitCode, onReason or onStatusReason")


def find_definition(request: Request, wanted: str) -> dict[str, Any]:
    """Find a job definition by ARN, with or without revision, ``name:revision``, or name (the latest active revision).

    Raises:
        ServiceError: If there is none.
    """
    definitions = batch_of(request.region).definitions
    if wanted in definitions and definitions[wanted]["status"] == "ACTIVE":
        return definitions[wanted]
    name = wanted.rsplit("job-definition/", 1)[-1]
    matches = [
        one
        for one in definitions.values()
        if name in (one["jobDefinitionName"], f"{one['jobDefinitionName']}:{one['revision']}")
    ]
    active = [one for one in matches if one["status"] == "ACTIVE"]
    if not active:
        # AlexsLemonade/refinebio#2887, chanzuckerberg/single-cell-data-portal#1068
        problem = "is not in ACTIVE status" if matches else "not found."
        raise client_error(
            f"JobDefinition {wanted} {problem}"
            if wanted.startswith("arn:")
            else f"JobDefinition name {wanted} does not exist or is not in ACTIVE status"
        )
    return max(active, key=lambda one: int(one["revision"]))


@handlers("DescribeJobDefinitions")
def describe_job_definitions(request: Request) -> Mapping[str, Any]:
    """Describe job definitions by ARN, name and status."""
    shown = list(batch_of(request.region).definitions.values())
    wanted = request.parameters.get("jobDefinitions")
    if wanted:
        shown = [
            one
            for one in shown
            if one["jobDefinitionArn"] in wanted or f"{one['jobDefinitionName']}:{one['revision']}" in wanted
        ]
    if request.parameters.get("jobDefinitionName"):
        shown = [one for one in shown if one["jobDefinitionName"] == request.parameters["jobDefinitionName"]]
    if request.parameters.get("status"):
        shown = [one for one in shown if one["status"] == request.parameters["status"]]
    return page(shown, parameters=request.parameters, key="jobDefinitions", cursor="nextToken")


@handlers("DeregisterJobDefinition")
def deregister_job_definition(request: Request) -> Mapping[str, Any]:
    """Make a revision INACTIVE; it stays visible, as in AWS for 180 days."""
    find_definition(request, request.parameters["jobDefinition"])["status"] = "INACTIVE"
    return {}
