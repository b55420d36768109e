"""What of resources that hold data never changes: logical id, type and create-only properties, and what a user loses otherwise."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ultracluster_stacks.plan import StackTemplate
from ultracluster_stacks.plan.resource_updates import STATEFUL, replacement

__all__ = ["LOST", "TABLE", "Row", "broken_rows", "stateful_ids"]

TABLE = Path(__file__).with_suffix(".json")
"""By configuration, and by stack and construct path: the row of a resource."""

Row = Mapping[str, Any]
"""Logical id, type, and the properties that CloudFormation can only set when it creates the resource, by their paths."""

_PROTECTED = frozenset({"Retain", "RetainExceptOnCreate", "Snapshot"})

LOST: Mapping[str, str] = {
    "AWS::DynamoDB::Table": "the orders of a ledger, or what functions remember: capacity would be bought, people told or jobs submitted again",
    "AWS::DynamoDB::GlobalTable": "the orders: whoever buys capacity would start with an empty ledger",
    "AWS::ECR::Repository": "the images that jobs are started from",
    "AWS::EC2::SecurityGroup": "the group of the file system, which keeps the old one and would be replaced",
    "AWS::EC2::SecurityGroupEgress": "a rule among the servers of the file system: EC2 would refuse its duplicate",
    "AWS::EC2::SecurityGroupIngress": "a rule among the servers of the file system: EC2 would refuse its duplicate",
    "AWS::EC2::Subnet": "the subnet of the file system, which would be replaced with it",
    "AWS::EC2::VPC": "the network of the file system, which would be replaced with it",
    "AWS::FSx::DataRepositoryAssociation": "the link between folders and S3: new checkpoints would no longer get there",
    "AWS::FSx::FileSystem": "the file system: an empty one would be mounted, and the old one would be paid on",
    "AWS::KMS::Key": "the key: what is encrypted with it could no longer be read by the stack",
    "AWS::Logs::LogGroup": "the logs: new ones would begin, and nobody would look after the old ones",
    "AWS::S3::Bucket": "the checkpoints, datasets or compiled graphs: an empty bucket would take the place of theirs",
    "AWS::SSM::Parameter": "what the life cycle of a block remembers: people would be told twice, or not at all",
}
"""What a resource made anew takes from a user, by type."""


def stateful_ids(stacks: Iterable[StackTemplate]) -> dict[str, Row]:
    """The rows of a configuration.

    Args:
        stacks: Its stacks, with the construct paths.
    """
    return {
        f"{stack.name}: {stack.paths.get(logical_id, logical_id)}": {
            "id": logical_id,
            "type": resource["Type"],
            "create_only": dict(sorted(_create_only(resource["Type"], resource.get("Properties") or {}))),
        }
        for stack in stacks
        for logical_id, resource in stack.resources.items()
        if resource["Type"] in STATEFUL or resource.get("DeletionPolicy") in _PROTECTED
    }


def _create_only(kind: str, properties: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    rules = replacement(kind, properties)
    assert rules is not None, f"run `make tables`: {kind} is not in replacement.json"
    for path in rules.always:
        value: Any = properties
        for part in path:
            value = value.get(part) if isinstance(value, Mapping) else None
        if value is not None:
            yield ".".join(path), value


def broken_rows(rows: Mapping[str, Row], stacks: Iterable[StackTemplate]) -> list[str]:
    """Say which rows no longer hold, and what that would take from users.

    Args:
        rows: The rows of a configuration.
        stacks: Its stacks as they are synthesized today.
    """
    found = {stack.name: stack for stack in stacks}
    broken = []
    for place, row in rows.items():
        stack, path = place.split(": ")
        now = stateful_ids([found[stack]]) if stack in found else {}
        broken += [
            f"{stack}: {path} {what}. An update would take from users {LOST[row['type']]}"
            for what in _changes(row, now, place)
        ]
    return broken


def _changes(row: Row, now: Mapping[str, Row], place: str) -> Iterator[str]:
    # By its id: a resource that moves to another construct and keeps it stays the same resource.
    for same in now.values():
        if (same["id"], same["type"]) == (row["id"], row["type"]):
            old, new = row["create_only"], same["create_only"]
            for name in sorted({*old, *new}):
                if old.get(name) != new.get(name):
                    yield f"had {name} {old.get(name)} and has {new.get(name)} now"
            return
    yield f"was {row['id']} and " + (f"is {now[place]['id']} now" if place in now else "is no longer there")
