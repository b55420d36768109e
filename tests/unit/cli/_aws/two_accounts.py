"""Two accounts with one stack each, and the targets of their clusters."""

from pathlib import Path
from typing import Any

import botocore.exceptions
from tests.fake_clients import FakeClients

from ultracluster_cli._aws.target import ClusterTargets, Target
from ultracluster_stacks.plan import StackTemplate


class OneStackCloudFormation:
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
    cloudformation = OneStackCloudFormation(stack)
    return Target(
        name=account,
        local=False,
        environment={},
        client=FakeClients(lambda *_: cloudformation),
        account=account,
        profile=profile,
    )


def stack(cluster: str, account: str | None, folder: Path) -> StackTemplate:
    return StackTemplate(
        cluster=cluster,
        name=f"{cluster}-Cluster",
        region="us-east-2",
        template={},
        account=account,
        assembly=folder,
    )


TARGETS = ClusterTargets(
    profiles={"a": None, "b": "production"},
    targets={
        None: target("a-Cluster", account="111111111111", profile=None),
        "production": target("b-Cluster", account="222222222222", profile="production"),
    },
)
