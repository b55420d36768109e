"""Amazon ECS: task definitions of Fargate, and the launch types of tasks and services."""

from collections.abc import Mapping
from typing import Any

from moto.ecs.models import ecs_backends

from ultracluster_local.instance.environment import ACCOUNT
from ultracluster_local.services.checks import Checks
from ultracluster_local.services.handlers import Request, ServiceError

__all__: list[str] = []

_check = Checks(service="ecs")

_GIB = 1024
_MEMORY = {
    "256": {512, 1 * _GIB, 2 * _GIB},
    "512": set(range(1 * _GIB, 4 * _GIB + 1, _GIB)),
    "1024": set(range(2 * _GIB, 8 * _GIB + 1, _GIB)),
    "2048": set(range(4 * _GIB, 16 * _GIB + 1, _GIB)),
    "4096": set(range(8 * _GIB, 30 * _GIB + 1, _GIB)),
    "8192": set(range(16 * _GIB, 60 * _GIB + 1, 4 * _GIB)),
    "16384": set(range(32 * _GIB, 120 * _GIB + 1, 8 * _GIB)),
}
"""Memory in MiB by CPU units: https://docs.aws.amazon.com/AmazonECS/latest/developerguide/fargate-tasks-services.html."""


def _client(message: str) -> ServiceError:
    return ServiceError("ClientException", message)


@_check("RegisterTaskDefinition")
def check_register_task_definition(request: Request) -> None:
    """Refuse sizes and networks that Fargate does not have (aws/amazon-ecs-cli#463, 2018-03-29)."""
    given = request.parameters
    if "FARGATE" not in (given.get("requiresCompatibilities") or []):
        return
    if given.get("networkMode") != "awsvpc":
        raise _client("Fargate only supports network mode 'awsvpc'.")
    for name in ("cpu", "memory"):
        if not given.get(name):
            raise _client(f"Fargate requires that '{name}' be defined at the task level.")
    if str(given["memory"]) not in {str(one) for one in _MEMORY.get(str(given["cpu"]), ())}:
        raise _client("No Fargate configuration exists for given values.")


@_check("RunTask", "CreateService", "UpdateService")
def check_launch_type(request: Request) -> None:
    """Refuse a launch type that the task definition does not support (sil-org/ecs-deploy#134, 2018-02-03)."""
    given = request.parameters
    definition = _definition(request.region, given.get("taskDefinition"))
    if given.get("launchType") == "FARGATE" and "FARGATE" not in definition:
        raise ServiceError(
            "InvalidParameterException", "Task definition does not support launch_type FARGATE."
        )


def _definition(region: str, wanted: str | None) -> Any:
    """Return the launch types of a task definition by ARN, family or family and revision; all of them if it is unknown."""
    families: Mapping[str, Mapping[int, Any]] = ecs_backends[ACCOUNT][region].task_definitions
    family, _, revision = (wanted or "").rsplit("/", 1)[-1].partition(":")
    known = families.get(family) or {}
    found = known.get(int(revision or max(known, default=0)))
    return {"FARGATE"} if found is None else set(found.requires_compatibilities or ["EC2"])
