"""What there is in a Region of an account, asked of the services one by one and not of CloudFormation."""

from collections.abc import Mapping
from typing import Any

from ultracluster_local import LocalAws

__all__ = ["LISTED", "PARTS", "RETAINED", "inventory", "remove"]

LISTED: Mapping[str, tuple[str, str, str, str]] = {
    "AWS::AutoScaling::AutoScalingGroup": (
        "autoscaling",
        "describe_auto_scaling_groups",
        "AutoScalingGroups",
        "AutoScalingGroupName",
    ),
    "AWS::Batch::ComputeEnvironment": (
        "batch",
        "describe_compute_environments",
        "computeEnvironments",
        "computeEnvironmentArn",
    ),
    "AWS::Batch::JobQueue": ("batch", "describe_job_queues", "jobQueues", "jobQueueArn"),
    "AWS::Batch::SchedulingPolicy": ("batch", "list_scheduling_policies", "schedulingPolicies", "arn"),
    "AWS::CloudWatch::Alarm": ("cloudwatch", "describe_alarms", "MetricAlarms", "AlarmName"),
    "AWS::CloudWatch::CompositeAlarm": ("cloudwatch", "describe_alarms", "CompositeAlarms", "AlarmName"),
    "AWS::EC2::EIP": ("ec2", "describe_addresses", "Addresses", "AllocationId"),
    "AWS::EC2::InternetGateway": (
        "ec2",
        "describe_internet_gateways",
        "InternetGateways",
        "InternetGatewayId",
    ),
    "AWS::EC2::LaunchTemplate": ("ec2", "describe_launch_templates", "LaunchTemplates", "LaunchTemplateId"),
    "AWS::EC2::PlacementGroup": ("ec2", "describe_placement_groups", "PlacementGroups", "GroupName"),
    "AWS::EC2::RouteTable": ("ec2", "describe_route_tables", "RouteTables", "RouteTableId"),
    "AWS::EC2::SecurityGroup": ("ec2", "describe_security_groups", "SecurityGroups", "GroupId"),
    "AWS::EC2::Subnet": ("ec2", "describe_subnets", "Subnets", "SubnetId"),
    "AWS::EC2::VPC": ("ec2", "describe_vpcs", "Vpcs", "VpcId"),
    "AWS::EC2::VPCEndpoint": ("ec2", "describe_vpc_endpoints", "VpcEndpoints", "VpcEndpointId"),
    "AWS::Events::Rule": ("events", "list_rules", "Rules", "Arn"),
    "AWS::FSx::FileSystem": ("fsx", "describe_file_systems", "FileSystems", "FileSystemId"),
    "AWS::IAM::InstanceProfile": ("iam", "list_instance_profiles", "InstanceProfiles", "Arn"),
    "AWS::IAM::Role": ("iam", "list_roles", "Roles", "RoleName"),
    "AWS::Lambda::Function": ("lambda", "list_functions", "Functions", "FunctionName"),
    "AWS::Logs::LogGroup": ("logs", "describe_log_groups", "logGroups", "logGroupName"),
    "AWS::S3::Bucket": ("s3", "list_buckets", "Buckets", "Name"),
    "AWS::SNS::Topic": ("sns", "list_topics", "Topics", "TopicArn"),
    "AWS::DynamoDB::Table": ("dynamodb", "list_tables", "TableNames", ""),
    "AWS::Scheduler::Schedule": ("scheduler", "list_schedules", "Schedules", "Name"),
}
"""How each type is asked for: service, call, list in the answer, id in the list."""

PARTS: Mapping[str, str] = {
    "AWS::Batch::JobDefinition": "a revision stays as INACTIVE, as in AWS",
    "AWS::CDK::Metadata": "nothing",
    "AWS::EC2::NatGateway": "stays as deleted for an hour, as in AWS; its address and subnet are listed",
    "AWS::EC2::Route": "part of a route table",
    "AWS::EC2::SecurityGroupEgress": "part of a security group",
    "AWS::EC2::SecurityGroupIngress": "part of a security group",
    "AWS::EC2::SubnetRouteTableAssociation": "part of a route table",
    "AWS::EC2::VPCGatewayAttachment": "part of a VPC",
    "AWS::FSx::DataRepositoryAssociation": "part of a file system",
    "AWS::IAM::Policy": "part of a role",
    "AWS::Lambda::EventInvokeConfig": "part of a function",
    "AWS::Lambda::Permission": "part of a function",
    "AWS::S3::BucketPolicy": "part of a bucket",
    "AWS::SNS::Subscription": "part of a topic",
    "AWS::SNS::TopicPolicy": "part of a topic",
}
"""Types that are not listed by themselves, and why."""

RETAINED = {
    "AWS::DynamoDB::Table",
    "AWS::FSx::FileSystem",
    "AWS::Logs::LogGroup",
    "AWS::S3::Bucket",
    # What a file system lives in; the route table is the main one of the VPC.
    "AWS::EC2::RouteTable",
    "AWS::EC2::SecurityGroup",
    "AWS::EC2::Subnet",
    "AWS::EC2::VPC",
}
"""Types of which something is meant to stay when stacks are deleted."""


_GLOBAL = {"iam", "s3"}  # they answer the same in every Region: asked in one
_FIRST = "us-east-2"


def inventory(local: LocalAws, region: str) -> dict[str, set[str]]:
    """Ids of everything there is, by type.

    Args:
        local: A started local AWS.
        region: Region to ask.
    """
    found: dict[str, set[str]] = {}
    for kind, (service, call, listed, key) in LISTED.items():
        if service in _GLOBAL and region != _FIRST:
            found[kind] = set()
            continue
        client = local.client(service, region)
        # Without a type, CloudWatch lists metric alarms only.
        given = {"AlarmTypes": [listed.removesuffix("s")]} if call == "describe_alarms" else {}
        pages = (
            client.get_paginator(call).paginate(**given)
            if client.can_paginate(call)
            else [getattr(client, call)(**given)]
        )
        there = [each for page in pages for each in page.get(listed, [])]
        found[kind] = {each[key] for each in there if not _going(each)} if key else set(there)
    return found


def _going(described: Mapping[str, Any]) -> bool:
    """Whether something is described only because it was deleted a moment ago."""
    states = {described.get(key) for key in ("State", "Lifecycle", "status")}
    return bool(states & {"deleted", "DELETING"})


def remove(local: LocalAws, region: str, left: Mapping[str, set[str]]) -> None:
    """Remove what stacks leave behind, as a person would who no longer wants the data.

    Args:
        local: A started local AWS.
        region: Region of what is left.
        left: Ids of what is left, by type.
    """
    fsx, logs, s3 = (local.client(service, region) for service in ("fsx", "logs", "s3"))
    for file_system in left.get("AWS::FSx::FileSystem", ()):
        fsx.delete_file_system(FileSystemId=file_system)
    # In the order of docs/concepts/storage.md; rules and the main route table go with them.
    ec2 = local.client("ec2", region)
    defaults = ec2.describe_security_groups(Filters=[{"Name": "group-name", "Values": ["default"]}])
    # A default group goes with its VPC.
    for group in left.get("AWS::EC2::SecurityGroup", set()) - {
        each["GroupId"] for each in defaults["SecurityGroups"]
    }:
        ec2.delete_security_group(GroupId=group)
    for subnet in left.get("AWS::EC2::Subnet", ()):
        ec2.delete_subnet(SubnetId=subnet)
    for vpc in left.get("AWS::EC2::VPC", ()):
        ec2.delete_vpc(VpcId=vpc)
    for group in left.get("AWS::Logs::LogGroup", ()):
        logs.delete_log_group(logGroupName=group)
    for table in left.get("AWS::DynamoDB::Table", ()):
        local.client("dynamodb", region).delete_table(TableName=table)
    for bucket in left.get("AWS::S3::Bucket", ()):
        _empty(s3, bucket)
        s3.delete_bucket(Bucket=bucket)


def _empty(s3: Any, bucket: str) -> None:
    for page in s3.get_paginator("list_object_versions").paginate(Bucket=bucket):
        for version in (*page.get("Versions", ()), *page.get("DeleteMarkers", ())):
            s3.delete_object(Bucket=bucket, Key=version["Key"], VersionId=version["VersionId"])
