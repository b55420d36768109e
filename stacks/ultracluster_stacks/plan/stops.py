"""Rules that stop a deployment, one function each."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final, Literal

from ultracluster_stacks.plan.changes import Action, PropertyChange, ResourceChange, Stop, StopKind
from ultracluster_stacks.plan.resource_updates import (
    ASSOCIATION,
    COMPUTE_ENVIRONMENT,
    FILE_SYSTEM,
    IDENTITY_TYPES,
    JOB_CARRIERS,
    LONGEST_JOB_TIMEOUT_MINUTES,
    NETWORK_TYPES,
    QUEUE,
    SCALING_PROPERTIES,
    STATEFUL,
    WORKLOAD_SERVICES,
    Safe,
    is_custom,
    replacement,
    touches,
)

Block = Literal["running", "idle"]
"""Whether nodes of a Capacity Block may run now."""

_REPLACES: Final = frozenset({Action.REPLACE, Action.MAY_REPLACE})
_GOES: Final = frozenset({Action.REMOVE, Action.RETAIN})
_POLICIES: Final = ("DeletionPolicy", "UpdateReplacePolicy")
_PROTECTING: Final = frozenset({"Retain", "RetainExceptOnCreate", "Snapshot"})


def block_of(
    resource: Mapping[str, Any], resources: Mapping[str, Any], idle_blocks: Collection[str]
) -> Block | None:
    """Return the state of the Capacity Block whose nodes a compute environment starts, or None if there is none.

    Args:
        resource: Resource of the old template; empty if it is new.
        resources: All resources of the old template, among them the launch template.
        idle_blocks: Reservation IDs of blocks in which nothing runs now.
    """
    if resource.get("Type") != COMPUTE_ENVIRONMENT:
        return None
    launch_template = _part(resource, "Properties", "ComputeResources", "LaunchTemplate", "LaunchTemplateId")
    target = resources.get(str(_part({"Id": launch_template}, "Id", "Ref")), {})
    data = _part(target, "Properties", "LaunchTemplateData")
    if _part(data, "InstanceMarketOptions", "MarketType") != "capacity-block":
        return None
    reservation = _part(
        data, "CapacityReservationSpecification", "CapacityReservationTarget", "CapacityReservationId"
    )
    return "idle" if isinstance(reservation, str) and reservation in idle_blocks else "running"


def _part(value: Any, *names: str) -> Any:
    for name in names:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def stops_of(
    change: ResourceChange,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    *,
    block: Block | None,
    linked: bool,
) -> tuple[Stop, ...]:
    """Return the reasons why a change stops the deployment.

    Args:
        change: Change with its action.
        before: Resource in the old template; empty if it is new.
        after: Resource in the new template; empty if it is removed.
        block: State of the Capacity Block of a compute environment. None if there is none.
        linked: Whether the stack has a data repository association.
    """
    if change.action is Action.ADD:
        return ()
    if before.get("Type") != after.get("Type") and after:
        reason = "its type changes under the same logical ID, which CloudFormation refuses"
        return (Stop(kind=StopKind.REFUSED, reason=reason, allow=None),)
    rules = (_data, _protection, _association, _shares, _best_fit, _identity, _network, _unknown)
    stops = [stop for rule in rules for stop in rule(change, before, after)]
    return (*stops, *_jobs(change, after, block), *(_linked_tags(change) if linked else ()))


def notes_of(change: ResourceChange, after: Mapping[str, Any], *, block: Block | None) -> tuple[str, ...]:
    """Return remarks on a change that do not stop the deployment.

    Args:
        change: Change with its properties.
        after: Resource in the new template; empty if it is removed.
        block: State of the Capacity Block of a compute environment. None if there is none.
    """
    notes = []
    if block == "idle" and change.action in _REPLACES:
        notes.append("nothing runs in its Capacity Block yet; waiting jobs stay in the queue")
    if change.leaves_behind:
        notes.append("the old resource stays in the account, unmanaged and billed")
    if _updates_infrastructure(change) and not _ends_jobs(after):
        notes.append(
            "AWS Batch replaces nodes as jobs end; jobs that run longer than "
            f"{LONGEST_JOB_TIMEOUT_MINUTES:,} minutes from then are terminated"
        )
    return tuple(notes)


def _stop(change: ResourceChange, kind: StopKind, reason: str) -> Stop:
    verb = "replace" if change.action in _REPLACES else "remove" if change.action in _GOES else "change"
    return Stop(kind=kind, reason=reason, allow=f"{verb}:{change.stack}/{change.logical_id}")


def _data(change: ResourceChange, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Stop]:
    safe = STATEFUL.get(change.resource_type)
    is_protected = before.get("DeletionPolicy") in _PROTECTING
    if safe is None and not is_protected:
        return
    if change.action in _REPLACES:
        fate = (
            "the old one stays, unmanaged" if change.leaves_behind else "the old one and its data are deleted"
        )
        empty = (
            "a new, empty one takes its place"
            if change.action is Action.REPLACE
            else "a new, empty one may take its place"
        )
        yield _stop(change, StopKind.DATA, f"{empty}; {fate}")
    elif change.action is Action.REMOVE:
        yield _stop(change, StopKind.DATA, "it is deleted with its data")
    elif change.action is Action.RETAIN:
        yield _stop(change, StopKind.DATA, "it leaves the stack and stays, unmanaged and billed")
    elif safe is not None:
        for property_change in change.properties:
            name = ".".join(property_change.path)
            if _shrinks(property_change, safe):
                reason = f"{name} cannot be decreased; the service refuses it"
                yield Stop(kind=StopKind.REFUSED, reason=reason, allow=None)
            elif property_change.path[0] not in _POLICIES and not _is_safe(property_change, safe):
                reason = f"{name} of a resource with data or capacity is not known to be safe to change"
                yield _stop(change, StopKind.DATA, reason)
    del after


def _is_safe(change: PropertyChange, safe: Mapping[tuple[str, ...], Safe]) -> bool:
    """Return whether a change is in the allow-list and keeps its condition."""
    for path, rule in safe.items():
        if change.path[: len(path)] == path:
            keeps_forever = rule is Safe.KEEPS_LONGER and change.after is None
            return rule is Safe.ANY or keeps_forever or _grows(change.before, change.after)
    return False


def _shrinks(change: PropertyChange, safe: Mapping[tuple[str, ...], Safe]) -> bool:
    if safe.get(change.path) is not Safe.GROWS or _grows(change.before, change.after):
        return False
    return _grows(change.after, change.before)


def _grows(before: Any, after: Any) -> bool:
    try:
        return float(after) >= float(before)
    except (TypeError, ValueError):
        return False


def _protection(
    change: ResourceChange, before: Mapping[str, Any], after: Mapping[str, Any]
) -> Iterator[Stop]:
    for policy in _POLICIES:
        if after and before.get(policy) in _PROTECTING and after.get(policy) not in _PROTECTING:
            new_policy = after.get(policy, "Delete")
            reason = f"its {policy} changes from {before[policy]} to {new_policy}"
            yield _stop(change, StopKind.DATA, reason)


def _association(
    change: ResourceChange, before: Mapping[str, Any], after: Mapping[str, Any]
) -> Iterator[Stop]:
    """Refuse replacements that FSx rejects: the new association is created first, and its paths must be unique."""
    del before, after
    if change.resource_type != ASSOCIATION or change.action is not Action.REPLACE:
        return
    changed = {property_change.path[0] for property_change in change.properties}
    if "FileSystemId" not in changed and not {"FileSystemPath", "DataRepositoryPath"} <= changed:
        reason = "FSx refuses a second association of the same path while the old one exists"
        yield Stop(kind=StopKind.REFUSED, reason=reason, allow=None)


def _linked_tags(change: ResourceChange) -> Iterator[Stop]:
    """Stop changes of tags: they are sent with the backup settings, which FSx refuses with an association."""
    tags = any(property_change.path[0] == "Tags" for property_change in change.properties)
    if change.resource_type == FILE_SYSTEM and change.action is Action.UPDATE and tags:
        reason = (
            "changed tags of a file system with a data repository association have failed "
            "(cloudformation-coverage-roadmap#1687); `aws fsx tag-resource` changes them"
        )
        yield _stop(change, StopKind.UNKNOWN, reason)


def _shares(change: ResourceChange, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Stop]:
    """Refuse to add or remove a fair-share policy (UpdateJobQueue, API Reference of AWS Batch)."""
    if change.resource_type != QUEUE or change.action is not Action.UPDATE:
        return
    had, has = (
        (each.get("Properties") or {}).get("SchedulingPolicyArn") is not None for each in (before, after)
    )
    if had != has:
        verb = "added to" if has else "removed from"
        reason = f"AWS Batch refuses that a fair-share policy is {verb} a queue"
        yield Stop(kind=StopKind.REFUSED, reason=reason, allow=None)


def _best_fit(change: ResourceChange, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Stop]:
    """Refuse updates with BEST_FIT, the default of AWS Batch (AWS Batch User Guide, infrastructure updates)."""
    del after
    strategy = _part(before, "Properties", "ComputeResources", "AllocationStrategy")
    if _updates_infrastructure(change) and strategy in {None, "BEST_FIT"}:
        reason = "AWS Batch updates nodes in place only with another allocation strategy than BEST_FIT"
        yield Stop(kind=StopKind.REFUSED, reason=reason, allow=None)


def _jobs(change: ResourceChange, after: Mapping[str, Any], block: Block | None) -> Iterator[Stop]:
    if change.resource_type not in JOB_CARRIERS:
        return
    if change.resource_type == COMPUTE_ENVIRONMENT and change.action in _REPLACES:
        if block != "idle":
            where = "in its Capacity Block" if block else "on it"
            yield _stop(change, StopKind.JOBS, f"jobs that run {where} end; waiting jobs stay in the queue")
    elif change.action in _REPLACES | _GOES:
        yield _stop(change, StopKind.JOBS, "its running and waiting jobs end")
    elif block == "running" and _updates_infrastructure(change):
        reason = (
            "a Capacity Block has no room for new nodes beside old ones, so that the deployment waits for running jobs to "
            "end, times out and rolls back"
        )
        yield _stop(change, StopKind.JOBS, reason)
    elif _updates_infrastructure(change) and _ends_jobs(after):
        policy = (after.get("Properties") or {}).get("UpdatePolicy") or {}
        at_once = str(policy.get("TerminateJobsOnUpdate", False)).lower() == "true"
        when = "immediately" if at_once else f"after {policy.get('JobExecutionTimeoutMinutes', 30)} minutes"
        yield _stop(change, StopKind.JOBS, f"an infrastructure update terminates running jobs {when}")


def _identity(change: ResourceChange, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Stop]:
    del after
    if change.resource_type not in IDENTITY_TYPES or change.action not in _REPLACES | _GOES:
        return
    trust = str((before.get("Properties") or {}).get("AssumeRolePolicyDocument", ""))
    if change.resource_type == "AWS::IAM::InstanceProfile" or any(
        service in trust for service in WORKLOAD_SERVICES
    ):
        yield _stop(change, StopKind.JOBS, "running nodes or jobs lose their permissions")


def _updates_infrastructure(change: ResourceChange) -> bool:
    """Return whether an in-place change makes AWS Batch replace nodes: all of ComputeResources but scaling."""
    if change.resource_type != COMPUTE_ENVIRONMENT or change.action is not Action.UPDATE:
        return False
    return any(
        path[0] == "ComputeResources" and (len(path) == 1 or path[1] not in SCALING_PROPERTIES)
        for path in (property_change.path for property_change in change.properties)
    )


def _ends_jobs(after: Mapping[str, Any]) -> bool:
    policy = (after.get("Properties") or {}).get("UpdatePolicy") or {}
    at_once = str(policy.get("TerminateJobsOnUpdate", False)).lower() == "true"
    return at_once or policy.get("JobExecutionTimeoutMinutes") != LONGEST_JOB_TIMEOUT_MINUTES


def _network(change: ResourceChange, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Stop]:
    del before, after
    if change.resource_type in NETWORK_TYPES and change.action in _REPLACES | _GOES:
        fate = "removed" if change.action in _GOES else "replaced"
        reason = f"a part of the network of running nodes and file systems is {fate}"
        yield _stop(change, StopKind.NETWORK, reason)


def _unknown(change: ResourceChange, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Stop]:
    del before
    kind = change.resource_type
    if is_custom(kind):
        yield _stop(
            change, StopKind.UNKNOWN, "the effect of the change depends on its function and is unknown"
        )
    elif replacement(kind, after.get("Properties") or {}) is None and change.action in _REPLACES:
        yield _stop(change, StopKind.UNKNOWN, f"whether a change replaces {kind} is unknown")
    elif touches(("Condition",), frozenset(property_change.path for property_change in change.properties)):
        yield _stop(change, StopKind.UNKNOWN, "its condition changes, which may create or delete it")
