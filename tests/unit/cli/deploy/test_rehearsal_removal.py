"""Stacks of rehearsals are found by name and tag, and removed from whatever state they are in."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.exceptions import ClientError

from ultracluster_cli.deploy import rehearsal_removal as removal
from ultracluster_cli.deploy.rehearsal_removal import find_stacks, remove_stacks
from ultracluster_cli.exit_codes import CommandError

STAGE = "rehearsal-a-us-east-2"
TAG = [{"Key": "ultracluster:rehearsal", "Value": "rehearsal-a"}]


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(removal.time, "sleep", lambda _: None)


class Aws:
    """CloudFormation and S3 with stacks whose states follow one another."""

    exceptions = SimpleNamespace(NoSuchBucket=type("NoSuchBucket", (Exception,), {}))

    def __init__(self, *stacks: dict[str, Any], resources: tuple[dict[str, str], ...] = ()) -> None:
        self.stacks = {stack["StackName"]: stack for stack in stacks}
        self.next: dict[str, list[str]] = {}
        self.resources = resources
        self.done: list[tuple[str, Any]] = []

    def __call__(self, *_: str) -> "Aws":
        return self

    def get_paginator(self, operation: str) -> Any:
        answers: dict[str, Callable[..., Any]] = {
            "describe_stacks": lambda: {"Stacks": list(self.stacks.values())},
            "list_stack_resources": lambda **_: {"StackResourceSummaries": list(self.resources)},
            "describe_stack_events": lambda **_: {
                "StackEvents": [
                    {
                        "LogicalResourceId": "Vpc",
                        "ResourceStatus": "DELETE_FAILED",
                        "ResourceStatusReason": "in use",
                    }
                ]
            },
            "list_object_versions": lambda **_: {"Versions": [{"Key": "k", "VersionId": "1"}]},
        }
        return SimpleNamespace(paginate=lambda **given: [answers[operation](**given)])

    def delete_stack(self, *, StackName: str) -> None:  # noqa: N803 - boto3's name
        self.done.append(("delete", StackName))
        self.next.setdefault(StackName, ["DELETE_IN_PROGRESS", "gone"])

    def delete_objects(self, **given: Any) -> None:
        self.done.append(("empty", given["Bucket"]))

    def describe_stacks(self, *, StackName: str) -> Any:  # noqa: N803 - boto3's name
        states = self.next[StackName]
        state = states.pop(0) if len(states) > 1 else states[0]
        if state == "gone":
            raise ClientError(
                {"Error": {"Code": "ValidationError", "Message": "does not exist"}}, "DescribeStacks"
            )
        return {"Stacks": [{"StackStatus": state}]}


def stack(name: str, *, status: str = "CREATE_COMPLETE", tags: Any = TAG) -> dict[str, Any]:
    return {"StackName": name, "StackId": name, "StackStatus": status, "Tags": tags}


def found(aws: Aws) -> list[str]:
    return [one.name for one in find_stacks(aws, regions=["us-east-2"], stages=[STAGE])]


def test_finds_the_stacks_of_a_rehearsal_in_the_order_of_their_removal() -> None:
    aws = Aws(*(stack(f"{STAGE}-{part}") for part in ("Network", "Storage", "Cluster")))

    assert found(aws) == [f"{STAGE}-Cluster", f"{STAGE}-Storage", f"{STAGE}-Network"]


@pytest.mark.parametrize(
    "other",
    [
        stack("a-us-east-2-Network"),
        stack("rehearsal-b-us-east-2-Network"),
        stack(f"{STAGE}-Network", tags=[]),
        stack(f"{STAGE}-Other"),
    ],
)
def test_leaves_other_stacks_alone(other: dict[str, Any]) -> None:
    assert found(Aws(other)) == []


def test_finds_a_stack_whose_change_set_was_never_executed() -> None:
    assert found(Aws(stack(f"{STAGE}-Network", status="REVIEW_IN_PROGRESS", tags=[]))) == [f"{STAGE}-Network"]


def test_empties_buckets_and_waits_until_each_stack_is_gone_before_those_that_it_needs() -> None:
    bucket = {
        "ResourceType": "AWS::S3::Bucket",
        "PhysicalResourceId": "b",
        "ResourceStatus": "CREATE_COMPLETE",
    }
    aws = Aws(*(stack(f"{STAGE}-{part}") for part in ("Network", "Storage")), resources=(bucket,))

    remove_stacks(aws, find_stacks(aws, regions=["us-east-2"], stages=[STAGE]))

    assert aws.done == [
        ("empty", "b"),
        ("delete", f"{STAGE}-Storage"),
        ("empty", "b"),
        ("delete", f"{STAGE}-Network"),
    ]


def test_tries_again_what_fails_at_first() -> None:
    aws = Aws(stack(f"{STAGE}-Network"))
    aws.next[f"{STAGE}-Network"] = ["DELETE_IN_PROGRESS", "DELETE_FAILED", "DELETE_IN_PROGRESS", "gone"]

    remove_stacks(aws, find_stacks(aws, regions=["us-east-2"], stages=[STAGE]))

    assert aws.done.count(("delete", f"{STAGE}-Network")) == 2


def test_says_what_could_not_be_removed() -> None:
    aws = Aws(stack(f"{STAGE}-Network"), stack(f"{STAGE}-Storage"))
    aws.next[f"{STAGE}-Network"] = ["DELETE_FAILED"]

    with pytest.raises(CommandError, match=r"Network in us-east-2 still exists: Vpc: in use") as raised:
        remove_stacks(aws, find_stacks(aws, regions=["us-east-2"], stages=[STAGE]))
    assert len(raised.value.findings) == 1
