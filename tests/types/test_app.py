"""A user's app against the public interfaces becomes what it asks for; `make check` checks its types by mypy and pyright."""

import aws_cdk as cdk
import pytest
from aws_cdk import assertions
from tests.types.app import define

pytestmark = pytest.mark.slow


def test_the_app_becomes_the_templates_that_it_asks_for() -> None:
    stacks = define(cdk.App(analytics_reporting=False, tree_metadata=False, stack_traces=False))
    platform, closed, research, mixed = map(assertions.Template.from_stack, stacks)

    platform.resource_count_is("AWS::EC2::VPC", 1)
    platform.resource_count_is("AWS::Batch::ComputeEnvironment", 2)
    kept = {
        name
        for kind in ("AWS::FSx::FileSystem", "AWS::Logs::LogGroup")
        for name, each in platform.find_resources(kind).items()
        if each.get("DeletionPolicy") != "Delete"
    }
    assert kept == set()

    (s3,) = (
        each["Properties"]
        for each in closed.find_resources("AWS::EC2::VPCEndpoint").values()
        if each["Properties"]["VpcEndpointType"] == "Gateway"
    )
    assert "s3:::corpus-of-partner/*" in str(s3["PolicyDocument"])
    assert ".secretsmanager" in str(closed.find_resources("AWS::EC2::VPCEndpoint"))

    research.resource_count_is("AWS::Batch::JobQueue", 0)
    research.resource_count_is("AWS::CloudWatch::Alarm", 3)
    assert "batch:SubmitJob" in str(research.find_resources("AWS::IAM::Policy"))
    assert len(stacks[2].granted) == 5

    assert "Queue" in str(mixed.find_outputs("JobQueueArn"))
    assert "repository/training" in str(mixed.find_resources("AWS::IAM::Policy"))
