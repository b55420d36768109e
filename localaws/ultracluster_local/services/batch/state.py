"""AWS Batch resources of a Region."""

import copy
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ultracluster_local.instance.clients import service_model
from ultracluster_local.instance.clock import CLOCK
from ultracluster_local.instance.delays import delays
from ultracluster_local.instance.state import region_state
from ultracluster_local.services.handlers import Request, ServiceError, page
from ultracluster_local.services.leaving import Leaving
from ultracluster_local.services.model_constraints import in_case_of_model

__all__ = [
    "FINAL_STATES",
    "Batch",
    "batch_of",
    "begin_change",
    "client_error",
    "complete_change",
    "described",
    "find",
    "finish_job",
    "get",
    "is_named",
    "milliseconds",
    "platform_of",
    "refuse_changing",
    "refused",
    "settings_of",
]

FINAL_STATES = frozenset({"SUCCEEDED", "FAILED"})


@dataclass(slots=True)
class Batch:
    """Resources of one Region by ARN, jobs by ID."""

    environments: dict[str, dict[str, Any]] = field(default_factory=dict)
    queues: dict[str, dict[str, Any]] = field(default_factory=dict)
    policies: dict[str, dict[str, Any]] = field(default_factory=dict)
    definitions: dict[str, dict[str, Any]] = field(default_factory=dict)
    jobs: dict[str, dict[str, Any]] = field(default_factory=dict)
    service_environments: dict[str, dict[str, Any]] = field(default_factory=dict)
    service_jobs: dict[str, dict[str, Any]] = field(default_factory=dict)
    quota_shares: dict[str, dict[str, Any]] = field(default_factory=dict)
    consumables: dict[str, dict[str, Any]] = field(default_factory=dict)
    revisions: dict[str, int] = field(default_factory=dict)
    started: set[str] = field(default_factory=set)
    """IDs of the jobs whose containers run on this machine."""
    oversized: set[str] = field(default_factory=set)
    """IDs of the jobs whose overrides Amazon ECS refuses when they start."""
    changing: dict[str, tuple[datetime, Mapping[str, Any]]] = field(default_factory=dict)
    """End of the change of environments and queues by ARN, and what it then sets; nothing if it deletes."""
    leaving: Leaving = field(default_factory=Leaving)


def batch_of(region: str) -> Batch:
    """Return the Batch of a Region."""
    batch = region_state("batch", region=region, new=Batch)
    for arn, (end, _) in list(batch.changing.items()):
        if end <= CLOCK.now():
            complete_change(batch, arn)
    return batch


def begin_change(batch: Batch, arn: str, status: str, then: Mapping[str, Any]) -> None:
    """Set a transitional status of an environment or a queue.

    Args:
        batch: Resources of the Region.
        arn: ARN of the environment or queue.
        status: ``CREATING``, ``UPDATING`` or ``DELETING``.
        then: What the end of the change sets; empty if it deletes.
    """
    _changed_by(batch, arn)["status"] = status
    batch.changing[arn] = (CLOCK.now() + delays().batch, then)
    if not delays().batch:
        left = _changed_by(batch, arn)
        complete_change(batch, arn)
        if not then:
            batch.leaving.add(left)


def complete_change(batch: Batch, arn: str) -> None:
    """End the transitional status of a resource.

    Args:
        batch: Resources of the Region.
        arn: ARN of an environment or queue; one that is not changing stays as it is.
    """
    batch.leaving.take(lambda one: arn in one.values())
    change = batch.changing.pop(arn, None)
    if change is None:
        return
    _, then = change
    if then:
        _changed_by(batch, arn).update(then)
    else:
        for things in (batch.environments, batch.queues):
            things.pop(arn, None)


def settings_of(request: Request) -> dict[str, Any]:
    """Return a copy of the parameters of a request, with the values of enumerations as the model writes them."""
    shape = service_model("batch").operation_model(request.operation).input_shape
    settings: dict[str, Any] = in_case_of_model(shape, copy.deepcopy(dict(request.parameters)))
    return settings


def _changed_by(batch: Batch, arn: str) -> dict[str, Any]:
    return batch.environments[arn] if arn in batch.environments else batch.queues[arn]


def refuse_changing(batch: Batch, arn: str, verb: str) -> None:
    """Refuse a change of a resource that is being modified.

    AWS's answer: "Cannot delete, resource is being modified" (https://ec2spotworkshops.com, rendering with Batch, clean-up).

    Raises:
        ServiceError: If it is changing.
    """
    if arn in batch.changing:
        raise client_error(f"Cannot {verb}, resource is being modified")


def client_error(message: str) -> ServiceError:
    """Return the error that Batch uses for most invalid requests."""
    return ServiceError("ClientException", message)


def refused(message: str) -> ServiceError:
    """Return the error for a request that Batch's checks refuse, whose message has a prefix (getmoto/moto#6470)."""
    return client_error(f"Error executing request, Exception : {message}, RequestId: {uuid.uuid4()}")


def find(things: Mapping[str, dict[str, Any]], name_field: str, wanted: str) -> dict[str, Any] | None:
    """Find a resource by ARN or name."""
    return next((one for arn, one in things.items() if wanted in (arn, one.get(name_field))), None)


def get(things: Mapping[str, dict[str, Any]], name_field: str, wanted: str, arn: str = "") -> dict[str, Any]:
    """Find a resource by ARN or name.

    Args:
        things: Resources by ARN.
        name_field: Member with the name.
        wanted: ARN or name.
        arn: ARN that the refusal names. Default: `wanted`.

    Raises:
        ServiceError: If there is no such resource.
    """
    found = find(things, name_field, wanted)
    if found is None:
        raise client_error(f"{arn or wanted} does not exist")
    return found


def is_named(name: str, wanted: str) -> bool:
    """Return whether a filter matches a name: in any case, and by its beginning if it ends with ``*``.

    Args:
        name: Name of a resource or a job.
        wanted: Value of the filter.
    """
    name, wanted = name.lower(), wanted.lower()
    return name.startswith(wanted[:-1]) if wanted.endswith("*") else name == wanted


def platform_of(environment: Mapping[str, Any]) -> str:
    """Return the capability that the jobs of an environment need."""
    kind = (environment.get("computeResources") or {}).get("type", "EC2")
    if kind.startswith("FARGATE"):
        return "FARGATE"
    return "MANAGED_INSTANCES" if kind == "ECS_MANAGED_INSTANCES" else "EC2"


def milliseconds() -> int:
    """Return the time as Batch shows it."""
    return int(CLOCK.now().timestamp() * 1000)


def finish_job(job: dict[str, Any], *, reason: str) -> None:
    """Mark a job as FAILED."""
    job["status"] = "FAILED"
    job["statusReason"] = reason
    job["stoppedAt"] = milliseconds()


def described(
    request: Request, things: Mapping[str, dict[str, Any]], kind: str, key: str
) -> Mapping[str, Any]:
    """Return a page of all resources of a kind, or of those named by a request."""
    wanted = request.parameters.get(key)

    def is_wanted(one: Mapping[str, Any]) -> bool:
        names = {one.get(f"{kind}Arn"), one.get(f"{kind}Name")} - {None}
        return bool(names) if not wanted else not names.isdisjoint(wanted)

    shown = [*filter(is_wanted, things.values()), *batch_of(request.region).leaving.take(is_wanted)]
    return page(shown, parameters=request.parameters, key=key, cursor="nextToken")
