"""Values that services refuse by rules of their own, and filters, pages and bodies by the models."""

from typing import Any

import pytest
from tests.refusals import refusal, said_of_values

from ultracluster_local import LocalAws

REGION = "us-east-1"
METRIC = [{"MetricName": "m", "Value": 1}]


@pytest.mark.parametrize(
    ("call", "given", "code"),
    [
        ("sns.set_topic_attributes", {"TopicArn": "arn:aws:sns:us-east-1:123456789012:t", "AttributeName": "Foo"}, "InvalidParameter"),
        ("kms.create_alias", {"AliasName": "alias/aws/x", "TargetKeyId": "k"}, "NotAuthorizedException"),
        ("ssm.put_parameter", {"Name": "a/b", "Value": "x", "Type": "String"}, "ValidationException"),
        ("ssm.put_parameter", {"Name": "/a", "Value": "{{ssm:b}}", "Type": "String"}, "ValidationException"),
        ("s3.put_object", {"Bucket": "kept", "Key": "k" * 1025, "Body": b""}, "KeyTooLongError"),
        ("s3.put_bucket_versioning", {"Bucket": "kept", "VersioningConfiguration": {"Status": "Disabled"}}, "MalformedXML"),
        ("s3.put_object", {"Bucket": "kept", "Key": "k", "Body": b"", "ACL": "public-read"}, "AccessControlListNotSupported"),
        ("cloudwatch.put_metric_data", {"Namespace": "AWS/Own", "MetricData": METRIC}, "InvalidParameterValue"),
        ("cloudwatch.put_composite_alarm", {"AlarmName": "c", "AlarmRule": "ALARM(none)"}, "ValidationError"),
        ("ec2.describe_vpcs", {"Filters": [{"Name": "vpcid", "Values": ["x"]}]}, "InvalidParameterValue"),
        ("ec2.describe_vpcs", {"MaxResults": 1001}, "InvalidParameterValue"),
        ("ec2.terminate_instances", {"InstanceIds": ["instance"]}, "InvalidInstanceID.Malformed"),
        ("ec2.create_placement_group", {"Strategy": "cluster"}, "MissingParameter"),
        ("autoscaling.create_launch_configuration", {"LaunchConfigurationName": "c", "ImageId": "ami-12345678"}, "UnsupportedOperation"),
        ("autoscaling.set_instance_health", {"InstanceId": "i-0", "HealthStatus": "Sick"}, "ValidationError"),
        ("autoscaling.describe_tags", {"Filters": [{"Name": "colour", "Values": ["x"]}]}, "ValidationError"),
        ("autoscaling.suspend_processes", {"AutoScalingGroupName": "g", "ScalingProcesses": ["Sleep"]}, "ValidationError"),
        ("budgets.create_budget", {"AccountId": "123456789012", "Budget": {"BudgetName": "b", "BudgetType": "COST", "TimeUnit": "DAILY", "BudgetLimit": {"Amount": "-1", "Unit": "USD"}}}, "InvalidParameterException"),
        ("ec2.run_instances", {"MinCount": 0, "MaxCount": 1}, "InvalidParameterValue"),
        ("ec2.run_instances", {"MinCount": 1, "MaxCount": 10_001}, "InvalidParameterValue"),
        ("ec2.create_route", {"RouteTableId": "rtb-2d", "DestinationCidrBlock": "0.0.0.0/0"}, "MissingParameter"),
        ("ec2.create_route", {"RouteTableId": "rtb-2d", "GatewayId": "igw-2d", "NetworkInterfaceId": "eni-2d"}, "InvalidParameterCombination"),
        ("cloudformation.create_stack", {"StackName": "s" * 129, "TemplateBody": "{}"}, "ValidationError"),
    ],
)  # fmt: skip
def test_a_value_that_the_model_allows_and_the_service_does_not_is_refused(
    local_aws: LocalAws, call: str, given: dict[str, Any], code: str
) -> None:
    local_aws.client("s3", REGION).create_bucket(Bucket="kept")
    service, _, operation = call.partition(".")

    assert refusal(getattr(local_aws.client(service, REGION), operation), **given)[0] == code


@pytest.mark.parametrize(
    ("call", "given"),
    [
        ("ssm.put_parameter", {"Name": "/a/b", "Value": "{x}", "Type": "String"}),
        ("ssm.put_parameter", {"Name": "a", "Value": "x", "Type": "String"}),
        ("s3.put_object", {"Bucket": "kept", "Key": "k" * 1024, "Body": b""}),
        ("s3.put_object", {"Bucket": "kept", "Key": "k", "Body": b"", "ACL": "bucket-owner-full-control"}),
        ("cloudwatch.put_metric_data", {"Namespace": "Own/AWS", "MetricData": METRIC}),
        ("ec2.describe_vpcs", {"Filters": [{"Name": "vpc-id", "Values": ["x"]}, {"Name": "tag:a", "Values": ["b"]}]}),
        ("ec2.describe_vpcs", {"MaxResults": 1000}),
    ],
)  # fmt: skip
def test_a_value_at_the_edge_of_a_rule_is_taken(
    local_aws: LocalAws, call: str, given: dict[str, Any]
) -> None:
    local_aws.client("s3", REGION).create_bucket(Bucket="kept")
    service, _, operation = call.partition(".")

    getattr(local_aws.client(service, REGION), operation)(**given)


def test_a_new_bucket_has_the_settings_of_aws(local_aws: LocalAws) -> None:
    s3 = local_aws.client("s3", REGION)
    s3.create_bucket(Bucket="kept")

    blocked = s3.get_public_access_block(Bucket="kept")["PublicAccessBlockConfiguration"]
    (owned,) = s3.get_bucket_ownership_controls(Bucket="kept")["OwnershipControls"]["Rules"]
    (rule,) = s3.get_bucket_encryption(Bucket="kept")["ServerSideEncryptionConfiguration"]["Rules"]
    assert set(blocked.values()) == {True}
    assert owned == {"ObjectOwnership": "BucketOwnerEnforced"}
    assert rule["ApplyServerSideEncryptionByDefault"] == {"SSEAlgorithm": "AES256"}


def test_rules_for_any_place_leave_names_to_the_caller() -> None:
    container = {"image": "x", "user": "root", "logConfiguration": {"options": {"user": "A B"}}}
    free = {"tags": {"user": "A B"}, "parameters": {"image": "x" * 256}}

    assert said_of_values("batch", "RegisterJobDefinition", containerProperties=container, **free) == ""
    nodes = {"nodeRangeProperties": [{"container": {**container, "user": "A B"}}]}
    assert "User 'A B'" in said_of_values("batch", "RegisterJobDefinition", nodeProperties=nodes)
