"""Rules that stop a deployment, one function each."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from ultracluster_stacks.plan import resource_updates as updates
from ultracluster_stacks.plan.allowed import FUNCTION, unsafe_additions, unsafe_changes
from ultracluster_stacks.plan.changes import (
    GOES,
    REPLACES,
    Action,
    Block,
    ResourceUpdate,
    Stop,
    StopKind,
)
from ultracluster_stacks.plan.expressions import references
from ultracluster_stacks.plan.losses import added_stops, network_stops, permission_stops

_POLICIES: Final = ("DeletionPolicy", "UpdateReplacePolicy")
_PROTECTING: Final = frozenset({"Retain", "RetainExceptOnCreate", "Snapshot"})
_SNAPSHOT_TYPES: Final = frozenset(
    f"AWS::{name}"
    for name in (
        "DocDB::DBCluster",
        "EC2::Volume",
        "ElastiCache::CacheCluster",
        "ElastiCache::ReplicationGroup",
        "Neptune::DBCluster",
        "RDS::DBCluster",
        "RDS::DBInstance",
        "Redshift::Cluster",
    )
)
"""Types that can have a snapshot (DeletionPolicy attribute, CloudFormation User Guide, 2026-11-22)."""

BLOCK_VARIABLE: Final = "UC_RESERVATION_ID"
"""Variable of functions that serve one Capacity Block."""


def block_of(
    resource: Mapping[str, Any], resources: Mapping[str, Any], idle_blocks: Collection[str]
) -> Block | None:
    """Return the state of the Capacity Block of a compute environment or function, or None if there is none."""
    if resource.get("Type") == FUNCTION:
        own = _part(resource, "Properties", "Environment", "Variables", BLOCK_VARIABLE)
        return None if own is None else "idle" if own in idle_blocks else "running"
    if resource.get("Type") != updates.COMPUTE_ENVIRONMENT:
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


def stops_of(update: ResourceUpdate) -> tuple[Stop, ...]:
    """Return the reasons why a change stops the deployment."""
    if update.change.action is Action.ADD:
        return (*added_stops(update), *unsafe_additions(update))
    if update.before.get("Type") != update.after.get("Type") and update.after:
        reason = "its type changes under the same logical ID, which CloudFormation refuses"
        return (Stop.refused(reason),)
    rules = (
        *(_data_stops, _protection_stops, _association, _subnet, _shares, _best_fit, _unknown_stops),
        *(network_stops, permission_stops, _job_stops, _launch_method_stops, _linked_tags),
    )
    stops = [stop for rule in rules for stop in rule(update)]
    return (*stops, *unsafe_changes(update, stops))


def notes_of(update: ResourceUpdate) -> tuple[str, ...]:
    """Return remarks on a change that do not stop the deployment."""
    change, notes = update.change, []
    if update.block == "idle" and change.action in REPLACES:
        notes.append("nothing runs in its Capacity Block yet; waiting jobs stay in the queue")
    if change.leaves_behind:
        notes.append("the old resource stays in the account, unmanaged and billed")
    if _updates_infrastructure(update) and not _ends_jobs(update):
        notes.append(
            "AWS Batch replaces nodes as jobs end; jobs that run longer than "
            f"{updates.LONGEST_JOB_TIMEOUT_MINUTES:,} minutes from then are terminated"
        )
    return tuple(notes)


def _data_stops(update: ResourceUpdate) -> Iterator[Stop]:
    change = update.change
    is_protected = update.before.get("DeletionPolicy") in _PROTECTING
    if change.resource_type not in updates.STATEFUL and not is_protected:
        return
    if change.action in REPLACES:
        fate = (
            "the old one stays, unmanaged" if change.leaves_behind else "the old one and its data are deleted"
        )
        empty = (
            "a new, empty one takes its place"
            if change.action is Action.REPLACE
            else "a new, empty one may take its place"
        )
        yield change.stop(StopKind.DATA, f"{empty}; {fate}")
    elif change.action is Action.REMOVE:
        yield change.stop(StopKind.DATA, "it is deleted with its data")
    elif change.action is Action.RETAIN:
        yield change.stop(StopKind.DATA, "it leaves the stack and stays, unmanaged and billed")


def _protection_stops(update: ResourceUpdate) -> Iterator[Stop]:
    change, before, after = update.change, update.before, update.after
    for policy in _POLICIES:
        if after and before.get(policy) in _PROTECTING and after.get(policy) not in _PROTECTING:
            new_policy = after.get(policy, "Delete")
            reason = f"its {policy} changes from {before[policy]} to {new_policy}"
            yield change.stop(StopKind.DATA, reason)
        if after.get(policy) == "Snapshot" and change.resource_type not in _SNAPSHOT_TYPES:
            reason = (
                f"CloudFormation refuses {policy} Snapshot for {change.resource_type}, which has no snapshots"
            )
            yield Stop.refused(reason)


def _association(update: ResourceUpdate) -> Iterator[Stop]:
    """Refuse replacements that FSx rejects: the new association is created first, and its paths must be unique."""
    change = update.change
    if change.resource_type != updates.ASSOCIATION or change.action is not Action.REPLACE:
        return
    changed = {property_change.path[0] for property_change in change.properties}
    if "FileSystemId" not in changed and not {"FileSystemPath", "DataRepositoryPath"} <= changed:
        yield Stop.refused("FSx refuses a second association of the same path while the old one exists")


def _linked_tags(update: ResourceUpdate) -> Iterator[Stop]:
    """Stop changes of tags: they are sent with the backup settings, which FSx refuses with an association."""
    change = update.change
    if not any(resource["Type"] == updates.ASSOCIATION for resource in update.old_resources.values()):
        return
    tags = any(property_change.path[0] == "Tags" for property_change in change.properties)
    if change.resource_type == updates.FILE_SYSTEM and change.action is Action.UPDATE and tags:
        reason = (
            "changed tags of a file system with a data repository association have failed "
            "(cloudformation-coverage-roadmap#1687); `aws fsx tag-resource` changes them"
        )
        yield change.stop(StopKind.UNKNOWN, reason)


def _shares(update: ResourceUpdate) -> Iterator[Stop]:
    """Refuse to add or remove a fair-share policy (UpdateJobQueue, API Reference of AWS Batch)."""
    if update.change.resource_type != updates.QUEUE or update.change.action is not Action.UPDATE:
        return
    had, has = ("SchedulingPolicyArn" in properties for properties in (update.old, update.new))
    if had != has:
        verb = "added to" if has else "removed from"
        yield Stop.refused(f"AWS Batch refuses that a fair-share policy is {verb} a queue")


def _subnet(update: ResourceUpdate) -> Iterator[Stop]:
    """Refuse another zone with the same range: CloudFormation makes the new subnet first (InvalidSubnet.Conflict of EC2).

    https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html, read 2026-11.
    """
    change = update.change
    if change.resource_type == "AWS::EC2::Subnet" and change.action is Action.REPLACE:
        changed = {each.path[0] for each in change.properties}
        if not changed & {"CidrBlock", "VpcId"}:
            yield Stop.refused("EC2 refuses a second subnet of the same range while the old one exists")


def _best_fit(update: ResourceUpdate) -> Iterator[Stop]:
    """Refuse updates with BEST_FIT, the default of AWS Batch (AWS Batch User Guide, infrastructure updates)."""
    strategy = _part(update.old, "ComputeResources", "AllocationStrategy")
    if _updates_infrastructure(update) and strategy in {None, "BEST_FIT"}:
        yield Stop.refused(
            "AWS Batch updates nodes in place only with another allocation strategy than BEST_FIT"
        )


def _job_stops(update: ResourceUpdate) -> Iterator[Stop]:
    change, block = update.change, update.block
    if change.resource_type not in updates.JOB_CARRIERS:
        return
    if change.resource_type == updates.COMPUTE_ENVIRONMENT and change.action in REPLACES:
        if block != "idle":
            where = "in its Capacity Block" if block else "on it"
            yield change.stop(StopKind.JOBS, f"jobs that run {where} end; waiting jobs stay in the queue")
    elif change.action in REPLACES | GOES:
        yield change.stop(StopKind.JOBS, "its running and waiting jobs end")
    elif block == "running" and _updates_infrastructure(update):
        reason = (
            "a Capacity Block has no room for new nodes beside old ones, so that the deployment waits for running jobs to "
            "end, times out and rolls back"
        )
        yield change.stop(StopKind.JOBS, reason)
    elif _updates_infrastructure(update) and _ends_jobs(update):
        at_once, minutes = _end_of_jobs(update)
        when = "immediately" if at_once else f"after {30 if minutes is None else minutes} minutes"
        yield change.stop(StopKind.JOBS, f"an infrastructure update terminates running jobs {when}")


def _launch_method_stops(update: ResourceUpdate) -> Iterator[Stop]:
    """Stop a queue from changing what starts its nodes: multi-node jobs that wait in it are defined for the other."""
    if update.change.resource_type != updates.QUEUE:
        return
    old = _environment_types(update.old, update.old_resources)
    new = _environment_types(update.new, update.new_resources)
    if old and new and old != new:
        starts = "an Auto Scaling group" if "UNMANAGED" in new else "AWS Batch"
        reason = (
            f"{starts} will start its nodes; multi-node jobs that wait in it are defined for the other way, and never start: "
            "cancel and submit them again"
        )
        yield update.change.stop(StopKind.JOBS, reason)


def _environment_types(queue: Mapping[str, Any], resources: Mapping[str, Any]) -> set[str]:
    """Return the types of the compute environments of a queue, as far as they are in its stack."""
    types = set()
    for reference in references(queue.get("ComputeEnvironmentOrder")):
        types.add(_part(resources.get(reference.name), "Properties", "Type"))
    return {str(kind) for kind in types if kind}


def _updates_infrastructure(update: ResourceUpdate) -> bool:
    """Return whether an in-place change makes AWS Batch replace nodes: all of ComputeResources but scaling."""
    change = update.change
    if change.resource_type != updates.COMPUTE_ENVIRONMENT or change.action is not Action.UPDATE:
        return False
    return any(
        path[0] == "ComputeResources" and (len(path) == 1 or path[1] not in updates.SCALING_PROPERTIES)
        for path in (property_change.path for property_change in change.properties)
    )


def _ends_jobs(update: ResourceUpdate) -> bool:
    at_once, minutes = _end_of_jobs(update)
    return at_once or minutes != updates.LONGEST_JOB_TIMEOUT_MINUTES


def _end_of_jobs(update: ResourceUpdate) -> tuple[bool, Any]:
    """Return whether an update of nodes ends jobs at once, and else after how many minutes; None is the default."""
    policy = update.new.get("UpdatePolicy") or {}
    at_once = str(policy.get("TerminateJobsOnUpdate", False)).lower() == "true"
    return at_once, policy.get("JobExecutionTimeoutMinutes")


def _unknown_stops(update: ResourceUpdate) -> Iterator[Stop]:
    change = update.change
    kind = change.resource_type
    if updates.is_custom(kind):
        yield change.stop(StopKind.UNKNOWN, "the effect of the change depends on its function and is unknown")
    elif updates.replacement(kind, update.new) is None and change.action in REPLACES:
        yield change.stop(StopKind.UNKNOWN, f"whether a change replaces {kind} is unknown")
    elif any(property_change.path[0] == "Condition" for property_change in change.properties):
        yield change.stop(StopKind.UNKNOWN, "its condition changes, which may create or delete it")
