"""AWS Batch scheduling policies. Their constraints are those of API_FairsharePolicy and API_ShareAttributes, botocore 1.44.5."""

from collections.abc import Mapping
from typing import Any

from ultracluster_local.services.batch.state import batch_of, client_error, find, get, refused, settings_of
from ultracluster_local.services.handlers import Handlers, Request, page

__all__ = ["handlers"]

handlers = Handlers(service="batch")

_KINDS = ("fairsharePolicy", "quotaSharePolicy")


@handlers("CreateSchedulingPolicy")
def create_scheduling_policy(request: Request) -> Mapping[str, Any]:
    """Create a policy."""
    given = settings_of(request)
    policies = batch_of(request.region).policies
    if find(policies, "name", given["name"]):
        raise client_error("Object already exists")
    if all(given.get(kind) is not None for kind in _KINDS):
        raise refused("A scheduling policy can have either fairsharePolicy or quotaSharePolicy")
    _check(given.get("fairsharePolicy") or {})
    arn = request.arn("batch", f"scheduling-policy/{given['name']}")
    policies[arn] = {"tags": {}, **given, "arn": arn}
    return {"name": given["name"], "arn": arn}


def _check(policy: Mapping[str, Any]) -> None:
    seen: list[str] = []
    for share in policy.get("shareDistribution") or []:
        name = share["shareIdentifier"]
        for other in seen:
            if _overlap(name, other) or _overlap(other, name):
                raise refused(f"Share identifier {other} matches another share identifier {name}")
        seen.append(name)


def _overlap(one: str, other: str) -> bool:
    return one == other or (one.endswith("*") and other.startswith(one[:-1]))


@handlers("DescribeSchedulingPolicies")
def describe_scheduling_policies(request: Request) -> Mapping[str, Any]:
    """Describe the named scheduling policies."""
    policies = batch_of(request.region).policies
    return {"schedulingPolicies": [policies[arn] for arn in request.parameters["arns"] if arn in policies]}


@handlers("ListSchedulingPolicies")
def list_scheduling_policies(request: Request) -> Mapping[str, Any]:
    """List all scheduling policies."""
    shown = [{"arn": arn} for arn in batch_of(request.region).policies]
    return page(shown, parameters=request.parameters, key="schedulingPolicies", cursor="nextToken")


@handlers("UpdateSchedulingPolicy")
def update_scheduling_policy(request: Request) -> Mapping[str, Any]:
    """Update the policy, whose kind stays."""
    given = settings_of(request)
    policy = get(batch_of(request.region).policies, "arn", given.pop("arn"))
    for kind, other in (_KINDS, _KINDS[::-1]):
        if kind in given and other in policy:
            raise refused(f"Once set, this policy type cannot be removed or changed to a {kind}")
    _check(given.get("fairsharePolicy") or {})
    policy |= given
    return {}


@handlers("DeleteSchedulingPolicy")
def delete_scheduling_policy(request: Request) -> Mapping[str, Any]:
    """Delete a policy that no queue uses."""
    batch = batch_of(request.region)
    policy = get(batch.policies, "arn", request.parameters["arn"])
    for queue in batch.queues.values():
        if (
            queue.get("schedulingPolicyArn") == policy["arn"]
        ):  # API_DeleteSchedulingPolicy, which has this text
            raise client_error(
                f"You can't delete a scheduling policy that's used in any job queues: {queue['jobQueueName']}"
            )
    del batch.policies[policy["arn"]]
    return {}
