"""AWS Batch resources of a Region."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ultracluster_local.instance.clock import CLOCK
from ultracluster_local.instance.state import region_state
from ultracluster_local.services.handlers import Request, ServiceError, page

__all__ = [
    "FINAL_STATES",
    "Batch",
    "batch_of",
    "client_error",
    "described",
    "find",
    "finish_job",
    "get",
    "milliseconds",
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
    quota_shares: dict[str, dict[str, Any]] = field(default_factory=dict)
    service_jobs: dict[str, dict[str, Any]] = field(default_factory=dict)
    revisions: dict[str, int] = field(default_factory=dict)


def batch_of(region: str) -> Batch:
    """Return the Batch of a Region."""
    return region_state("batch", region=region, new=Batch)


def client_error(message: str) -> ServiceError:
    """Return the error that Batch uses for most invalid requests."""
    return ServiceError("ClientException", message)


def find(things: Mapping[str, dict[str, Any]], name_field: str, wanted: str) -> dict[str, Any] | None:
    """Find a resource by ARN or name."""
    return next((one for arn, one in things.items() if wanted in (arn, one.get(name_field))), None)


def get(things: Mapping[str, dict[str, Any]], name_field: str, wanted: str) -> dict[str, Any]:
    """Find a resource by ARN or name.

    Raises:
        ServiceError: If there is no such resource.
    """
    found = find(things, name_field, wanted)
    if found is None:
        raise client_error(f"{wanted} does not exist")
    return found


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
    shown = [
        one for arn, one in things.items() if not wanted or arn in wanted or one[f"{kind}Name"] in wanted
    ]
    return page(shown, parameters=request.parameters, key=key, cursor="nextToken")
