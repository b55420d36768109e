"""Each stack is read with the credentials of its cluster's profile."""

from pathlib import Path
from typing import Any

import botocore.exceptions
import pytest

from ultracluster_cli._aws.cluster_targets import ClusterTargets, single_target
from ultracluster_cli._aws.target import Target
from ultracluster_cli.plan.stacks import AssembledStack, deployed_by_target
from ultracluster_rules.findings import FindingsError
from ultracluster_stacks.plan import StackTemplate


class CloudFormation:
    """CloudFormation of an account that has one stack."""

    def __init__(self, stack: str) -> None:
        self.stack = stack

    def describe_stacks(self, *, StackName: str) -> dict[str, Any]:  # noqa: N803 - as boto3 has it
        if StackName != self.stack:
            said: Any = {"Error": {"Code": "ValidationError", "Message": f"{StackName} does not exist"}}
            raise botocore.exceptions.ClientError(said, "DescribeStacks")
        return {"Stacks": [{"StackStatus": "CREATE_COMPLETE"}]}

    def get_template(self, **_: str) -> dict[str, Any]:
        return {"TemplateBody": {}}


def target(stack: str, *, account: str, profile: str | None) -> Target:
    cloudformation = CloudFormation(stack)
    return Target(
        name=account,
        local=False,
        environment={},
        client=lambda *_: cloudformation,
        account=account,
        profile=profile,
    )


def stack(cluster: str, account: str | None, folder: Path) -> AssembledStack:
    return AssembledStack(
        account=account,
        stack=StackTemplate(
            cluster=cluster, name=f"{cluster}-Cluster", region="us-east-2", template={}, assembly=folder
        ),
    )


TARGETS = ClusterTargets(
    profiles={"a": None, "b": "production"},
    targets={
        None: target("a-Cluster", account="111111111111", profile=None),
        "production": target("b-Cluster", account="222222222222", profile="production"),
    },
)


def test_each_stack_is_read_from_the_account_of_its_cluster(tmp_path: Path) -> None:
    stacks = [stack("b", "222222222222", tmp_path), stack("a", None, tmp_path)]

    assert {one.name for one in deployed_by_target(stacks, TARGETS)} == {"a-Cluster", "b-Cluster"}


def test_a_profile_of_another_account_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(FindingsError, match=r"UC9204: .*belongs to account 333333333333"):
        deployed_by_target([stack("b", "333333333333", tmp_path)], TARGETS)


def test_a_removed_cluster_has_no_target_if_the_file_uses_profiles() -> None:
    own = TARGETS.targets[None]

    assert single_target(own).of("gone") is own
    with pytest.raises(FindingsError, match="UC9665"):
        TARGETS.of("gone")
