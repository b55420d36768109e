"""Every type that CloudFormation can update in place is updated in place, and comes back when the update fails."""

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cloudformation.comparison import differing

from ultracluster_local import LocalAws
from ultracluster_local.cloudformation.templates.parsing import parse

pytestmark = pytest.mark.slow

EVERY_TYPE = Path(__file__).with_name("every_type.yaml").read_text("utf-8")
TAGS = [{"Key": "owner", "Value": "them"}, {"Key": "more", "Value": "1"}]

# Resource: property path, new value. Each is updatable in place by the registry's schema.
CHANGES: list[tuple[str, str, Any]] = [
    ("Vpc", "EnableDnsHostnames", False),
    ("Vpc", "Tags", TAGS),
    ("Subnet", "MapPublicIpOnLaunch", True),
    ("FilesTarget", "SecurityGroups", [{"Fn::GetAtt": ["EfaGroup", "GroupId"]}]),
    ("RouteTable", "Tags", TAGS),
    ("Gateway", "Tags", TAGS),
    ("Nat", "Tags", TAGS),
    ("S3Endpoint", "RouteTableIds", [{"Ref": "RouteTable"}, {"Ref": "PublicRouteTable"}]),
    ("EndpointGroup", "SecurityGroupIngress.0.CidrIp", "10.0.1.0/24"),
    ("EfaGroup", "Tags", TAGS),
    ("EfaIn", "Description", "another"),
    ("AnyRole", "MaxSessionDuration", 3600),
    ("AnyRole", "Policies.0.PolicyDocument.Statement.0.Action", "logs:Put*"),
    (
        "AnyRole",
        "AssumeRolePolicyDocument.Statement.0.Principal.Service",
        ["lambda.amazonaws.com", "scheduler.amazonaws.com"],
    ),
    ("AnyRole", "Tags", TAGS),
    ("Operator", "Policies.0.PolicyDocument.Statement.0.Action", "logs:Put*"),
    ("Operator", "Tags", TAGS),
    ("Operators", "ManagedPolicyArns", []),
    ("RolePolicy", "PolicyDocument.Statement.0.Action", "s3:PutObject"),
    ("Managed", "PolicyDocument.Statement.0.Action", "fsx:List*"),
    ("Logs", "RetentionInDays", 7),
    ("Logs", "Tags", TAGS),
    ("Figures", "FilterPattern", "{ $.loss = * }"),
    ("Figures", "MetricTransformations.0.Dimensions.0.Value", "$.name"),
    ("Reservation", "InstanceCount", 8),
    ("Template", "LaunchTemplateData.ImageId", "ami-12c6146b"),
    ("Bucket", "LifecycleConfiguration.Rules.0.ExpirationInDays", 30),
    ("Bucket", "VersioningConfiguration.Status", "Suspended"),
    ("Bucket", "Tags", TAGS),
    ("BucketPolicy", "PolicyDocument.Statement.0.Action", "s3:Get*"),
    ("Key", "Description", "everything else"),
    ("Key", "EnableKeyRotation", False),
    ("Key", "Tags", TAGS),
    ("Parameter", "Tags", {"owner": "them"}),
    ("FileSystem", "LustreConfiguration.PerUnitStorageThroughput", 500),
    ("FileSystem", "Tags", TAGS),
    ("TieredFileSystem", "LustreConfiguration.DataReadCacheConfiguration.SizeGiB", 2048),
    ("TieredFileSystem", "LustreConfiguration.AutomaticBackupRetentionDays", 30),
    ("Link", "S3.AutoImportPolicy.Events", ["NEW"]),
    ("Environment", "ComputeResources.MaxvCpus", 1536),
    ("Environment", "UpdatePolicy.JobExecutionTimeoutMinutes", 30),
    ("Fleet", "NewInstancesProtectedFromScaleIn", False),
    ("Fleet", "MaxSize", "3"),
    ("Fleet", "Tags", [{"Key": "owner", "Value": "them", "PropagateAtLaunch": True}]),
    ("Fairness", "FairsharePolicy.ShareDecaySeconds", 60),
    ("JobQueue", "Priority", 20),
    ("TrainingEnvironment", "CapacityLimits.0.MaxCapacity", 8),
    ("TrainingEnvironment", "Tags", {"owner": "them"}),
    ("Share", "ResourceSharingConfiguration.Strategy", "LEND"),
    ("Share", "CapacityLimits.0.MaxCapacity", 3),
    ("Share", "Tags", {"owner": "them"}),
    ("Component", "Tags", {"owner": "them"}),
    ("BuildPlace", "InstanceTypes", ["c6i.large"]),
    ("BuildPlace", "Tags", {"owner": "them"}),
    ("Spread", "Distributions.0.AmiDistributionConfiguration.AmiTags.owner", "them"),
    ("Pipeline", "Status", "DISABLED"),
    ("Pipeline", "Tags", {"owner": "them"}),
    ("Topic", "DisplayName", "others"),
    ("Topic", "Tags", TAGS),
    ("TopicPolicy", "PolicyDocument.Statement.0.Principal.Service", "events.amazonaws.com"),
    ("Subscription", "RawMessageDelivery", False),
    ("Queue", "VisibilityTimeout", 90),
    ("Queue", "Tags", TAGS),
    ("QueuePolicy", "PolicyDocument.Statement.0.Principal.Service", "events.amazonaws.com"),
    ("Rule", "State", "DISABLED"),
    ("Rule", "Targets.0.RetryPolicy.MaximumRetryAttempts", 5),
    ("Schedule", "ScheduleExpression", "rate(1 minute)"),
    ("Function", "Timeout", 60),
    ("Function", "Code.ZipFile", "def handler(event, context):\n    return 'new'\n"),
    ("Function", "Tags", TAGS),
    ("InvokeConfig", "MaximumRetryAttempts", 0),
    ("Alarm", "Threshold", 5),
    ("Alarm", "Tags", TAGS),
    ("Composite", "AlarmActions", []),
    ("Dashboard", "DashboardBody", '{"widgets": [{"type": "text"}]}'),
    ("Budget", "Budget.BudgetLimit.Amount", 2000),
    ("Table", "DeletionProtectionEnabled", False),
    ("Table", "PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled", False),
    ("Table", "Tags", TAGS),
    ("Repository", "ImageTagMutability", "MUTABLE"),
    ("Repository", "Tags", TAGS),
]


def changed(template: dict[str, Any]) -> dict[str, Any]:
    result = copy.deepcopy(template)
    for name, path, value in CHANGES:
        place: Any = result["Resources"][name]["Properties"]
        *way, last = path.split(".")
        for part in way:
            place = place[int(part) if part.isdigit() else part]
        place[last] = value
    return result


def without_layer() -> dict[str, Any]:
    template = parse(EVERY_TYPE)
    del template["Resources"]["Layer"]  # its archive would have to be uploaded first
    del template["Resources"]["Function"]["Properties"]["Layers"]
    return template


@pytest.fixture(scope="module")
def story(local_aws_server: LocalAws) -> Iterator[dict[str, Any]]:
    """Create, update with a failure at the end, update, and compare with what services report after each."""
    local_aws_server.reset()
    api = local_aws_server.client("cloudformation")
    seen: dict[str, Any] = {"local": local_aws_server}

    def look(moment: str) -> None:
        stack = api.describe_stacks(StackName="one")["Stacks"][0]
        found = api.describe_stack_resources(StackName="one")["StackResources"]
        events = api.get_paginator("describe_stack_events").paginate(StackName="one")
        seen[moment] = {
            "status": stack["StackStatus"],
            "ids": {one["LogicalResourceId"]: one["PhysicalResourceId"] for one in found},
            "failures": [
                (one["LogicalResourceId"], one.get("ResourceStatusReason"))
                for page in events
                for one in page["StackEvents"]
                if one["ResourceStatus"].endswith("_FAILED") and one["LogicalResourceId"] != "one"
            ],
            "differing": differing("one"),
        }

    template, wanted = without_layer(), changed(without_layer())
    broken = copy.deepcopy(wanted)
    properties = {"VpcId": "vpc-00000000000000000", "CidrBlock": "10.0.0.0/24"}
    others = [name for name, one in template["Resources"].items() if "Condition" not in one]
    broken["Resources"]["Broken"] = {
        "Type": "AWS::EC2::Subnet",
        "Properties": properties,
        "DependsOn": others,
    }
    api.create_stack(
        StackName="one", TemplateBody=json.dumps(template), Capabilities=["CAPABILITY_NAMED_IAM"]
    )
    look("created")
    for moment, body in (("rolled back", broken), ("updated", wanted), ("back", template)):
        api.update_stack(
            StackName="one", TemplateBody=json.dumps(body), Capabilities=["CAPABILITY_NAMED_IAM"]
        )
        look(moment)
    yield seen
    api.delete_stack(StackName="one")


def test_every_change_is_made_in_place_and_shown_by_its_service(story: dict[str, Any]) -> None:
    assert story["created"]["status"] == "CREATE_COMPLETE"
    assert story["updated"]["status"] == "UPDATE_COMPLETE", story["updated"]["failures"]
    assert story["updated"]["ids"] == story["created"]["ids"]
    assert story["updated"]["differing"] == {}


def test_failed_update_brings_every_service_back(story: dict[str, Any]) -> None:
    assert [name for name, _ in story["rolled back"]["failures"]] == ["Broken"]
    assert story["rolled back"]["status"] == "UPDATE_ROLLBACK_COMPLETE"
    assert story["rolled back"]["ids"] == story["created"]["ids"]
    assert story["rolled back"]["differing"] == {}


def test_every_change_can_be_taken_back(story: dict[str, Any]) -> None:
    assert story["back"]["status"] == "UPDATE_COMPLETE", story["back"]["failures"]
    assert story["back"]["differing"] == {}
