"""The logical ids of what holds data: where they stand, and what a user loses when one changes."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from ultracluster_stacks.plan import StackTemplate
from ultracluster_stacks.plan.resource_updates import STATEFUL

__all__ = ["LOST", "TABLE", "broken_rows", "stateful_ids"]

TABLE = Path(__file__).with_suffix(".json")
"""By configuration: stack and construct path, logical id and type."""

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
"""What a new logical id takes from a user, by type."""


def stateful_ids(stacks: Iterable[StackTemplate]) -> dict[str, str]:
    """The rows of a configuration.

    Args:
        stacks: Its stacks, with the construct paths.
    """
    return {
        f"{stack.name}: {stack.paths.get(logical_id, logical_id)}": f"{logical_id} {resource['Type']}"
        for stack in stacks
        for logical_id, resource in stack.resources.items()
        if resource["Type"] in STATEFUL or resource.get("DeletionPolicy") in _PROTECTED
    }


def broken_rows(rows: Mapping[str, str], stacks: Iterable[StackTemplate]) -> list[str]:
    """Say which rows no longer hold, and what that would take from users.

    Args:
        rows: The rows of a configuration.
        stacks: Its stacks as they are synthesized today.
    """
    found = {stack.name: stack for stack in stacks}
    broken = []
    for place, row in rows.items():
        stack, path = place.split(": ")
        logical_id, kind = row.split()
        resources = found[stack].resources if stack in found else {}
        if resources.get(logical_id, {}).get("Type") != kind:
            now = stateful_ids([found[stack]]) if stack in found else {}
            fate = f"is {now[place].split()[0]} now" if place in now else "is no longer there"
            broken.append(
                f"{stack}: {path} was {logical_id} and {fate}. An update would take from users {LOST[kind]}"
            )
    return broken
