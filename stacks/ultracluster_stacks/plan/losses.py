"""Rules that stop what takes connectivity or permissions from running nodes, jobs and functions."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from ultracluster_stacks.plan.allowed import from_anywhere
from ultracluster_stacks.plan.changes import (
    GOES,
    REPLACES,
    ResourceChange,
    Resources,
    ResourceUpdate,
    Stop,
    StopKind,
)
from ultracluster_stacks.plan.expressions import canonical, references
from ultracluster_stacks.plan.permissions import POLICY_TYPES, narrowed, risky
from ultracluster_stacks.plan.resource_updates import IDENTITY_TYPES, NETWORK_TYPES, WORKLOAD_SERVICES

_LABELS: Final = frozenset(
    {"Tags", "Description", "TagSpecifications", "DeletionPolicy", "UpdateReplacePolicy"}
)
_RULES: Final = {
    "SecurityGroupIngress": "AWS::EC2::SecurityGroupIngress",
    "SecurityGroupEgress": "AWS::EC2::SecurityGroupEgress",
}


def network_stops(update: ResourceUpdate) -> Iterator[Stop]:
    """Stop removed and replaced parts of the network, and updates other than additions to a list."""
    change, old, new = update.change, update.old, update.new
    if change.resource_type not in NETWORK_TYPES:
        return
    if change.action in REPLACES | GOES:
        fate = "removed" if change.action in GOES else "replaced"
        yield change.stop(
            StopKind.NETWORK, f"a part of the network of running nodes and file systems is {fate}"
        )
        return
    for name in dict.fromkeys(part.path[0] for part in change.properties if not part.cause):
        if name in _LABELS or name == "PolicyDocument":  # a policy is a matter of permissions
            continue
        kept = [*_listed(new.get(name)), *_own_rules(name, change.logical_id, update.new_resources)]
        if (
            name == "SecurityGroupIngress"
            and from_anywhere(new.get(name))
            and not from_anywhere(old.get(name))
        ):
            yield change.stop(StopKind.NETWORK, "its nodes let in every address")
        elif not isinstance(old.get(name), list) or not all(map(kept.__contains__, _listed(old[name]))):
            yield change.stop(StopKind.NETWORK, f"{name} of a part of the network changes while nodes use it")


def _listed(value: Any) -> list[Any]:
    rules: list[Any] = canonical(value if isinstance(value, list) else [])
    return rules


def _own_rules(name: str, group: str, resources: Resources) -> list[Any]:
    """Return the rules of a security group that are resources, as they would stand inside the group."""
    rules = []
    for resource in resources.values():
        properties = resource.get("Properties") or {}
        if resource["Type"] == _RULES.get(name) and group in _names(properties.get("GroupId")):
            rules.append(canonical({key: part for key, part in properties.items() if key != "GroupId"}))
    return rules


def added_stops(update: ResourceUpdate) -> Iterator[Stop]:
    """Stop additions that take away: what denies, and what takes the place of a subnet's routes or access list."""
    change, new, old_resources = update.change, update.new, update.old_resources
    kind = change.resource_type
    if kind in _OF_SUBNETS and _names(new.get("SubnetId")) & old_resources.keys():
        yield change.stop(StopKind.NETWORK, "it replaces what carries the traffic of a subnet with nodes")
    if kind == "AWS::EC2::NetworkAclEntry" and new.get("RuleAction") == "deny":
        yield change.stop(StopKind.NETWORK, "it denies traffic of a network with nodes")
    if kind in POLICY_TYPES and _names([new.get(name) for name in _HOLDERS]) & old_resources.keys():
        yield from _lost(change, narrowed(kind, {}, new))
    yield from _gained(update)


def _names(value: Any) -> set[str]:
    return {reference.name for reference in references(value)}


def _lost(change: ResourceChange, lost: Sequence[str]) -> Iterator[Stop]:
    if lost:
        more = f" and {len(lost) - 1} more" if len(lost) > 1 else ""
        yield change.stop(StopKind.PERMISSION, f"what runs now loses a permission: {lost[0]}{more}")


def _gained(update: ResourceUpdate) -> Iterator[Stop]:
    holders = [
        update.after,
        *(update.new_resources.get(name, {}) for name in _names(update.new.get("Roles"))),
    ]
    trusts = [str((each.get("Properties") or {}).get("AssumeRolePolicyDocument")) for each in holders]
    risks = risky(
        update.change.resource_type,
        update.old,
        update.new,
        account=update.account,
        of_workload=any(service in trust for trust in trusts for service in WORKLOAD_SERVICES),
    )
    if risks:
        more = f" and {len(risks) - 1} more" if len(risks) > 1 else ""
        yield update.change.stop(StopKind.PERMISSION, f"{risks[0]}{more}")


def permission_stops(update: ResourceUpdate) -> Iterator[Stop]:
    """Stop lost permissions of roles that remain, and roles that running jobs and nodes have."""
    change, old, new = update.change, update.old, update.new
    kind = change.resource_type
    if kind in IDENTITY_TYPES and change.action in REPLACES | GOES:
        trust = str(old.get("AssumeRolePolicyDocument", ""))
        if kind == "AWS::IAM::InstanceProfile" or any(service in trust for service in WORKLOAD_SERVICES):
            yield change.stop(StopKind.JOBS, "running nodes or jobs lose their permissions")
        return
    if kind not in POLICY_TYPES:
        return
    if (
        change.action in GOES
        and not _names([old.get(name) for name in _HOLDERS]) & update.new_resources.keys()
    ):
        return
    yield from _gained(update)
    gone = update.old_resources.keys() - update.new_resources.keys()
    yield from _lost(change, narrowed(kind, old, new, gone=gone))


_OF_SUBNETS: Final = frozenset(
    {"AWS::EC2::SubnetNetworkAclAssociation", "AWS::EC2::SubnetRouteTableAssociation"}
)
_HOLDERS: Final = ("Roles", "RoleName", "Users", "Groups", "Bucket", "Topics", "Queues", "KeyId")
