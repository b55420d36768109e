"""Refusals have the codes and words of AWS where moto has others, and answers have its members.

What AWS answered is recorded in localstack/localstack, tests/aws/services/*/*.snapshot.json (2026-03).
"""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError
from botocore.session import get_session

import ultracluster_local
from ultracluster_local import LocalAws

TABLE = tomllib.loads(
    Path(ultracluster_local.__file__).with_name("services").joinpath("answers.toml").read_text("utf-8")
)


@pytest.mark.parametrize("service", TABLE)
def test_each_pattern_begins_with_operations_of_its_service_and_says_a_code(service: str) -> None:
    names = get_session().get_service_model(service).operation_names
    for pattern, (code, words) in TABLE[service].items():
        operations = pattern.partition(":" if "(?:" not in pattern else "): ")[0]
        assert [one for one in names if re.fullmatch(operations.lstrip("(?:"), one)], pattern
        assert "\\1" not in words or re.compile(pattern).groups
        assert code or words == "\\1"


def refusal(local: LocalAws, call: str, given: dict[str, Any]) -> dict[str, Any]:
    service, _, operation = call.partition(".")
    with pytest.raises(ClientError) as caught:
        getattr(local.client(service), operation)(**given)
    return dict(caught.value.response)


PATHS = (
    'Parameter name: can\'t be prefixed with "ssm" (case-insensitive). If formed as a path, it can consist of sub-paths divided by slash '
    "symbol; each sub-path can be formed as a mix of letters, numbers and the following 3 symbols .-_"
)
ROLE = "arn:aws:iam::123456789012:role/none"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("call", "given", "code", "words"),
    [
        ("kms.describe_key", {"KeyId": "fake"}, "NotFoundException", "Invalid keyId 'fake'"),
        ("ssm.get_parameter", {"Name": "none"}, "ParameterNotFound", ""),
        ("ssm.get_parameter", {"Name": "/a/b/c"}, "ParameterNotFound", ""),
        ("ssm.get_parameter", {"Name": "/a//b/c"}, "ValidationException", PATHS),
        ("ssm.get_parameter", {"Name": "a/b/c"}, "ValidationException", PATHS),
        (
            "ec2.release_address",
            {"AllocationId": "eipalloc-2d"},
            "InvalidAllocationID.NotFound",
            "The allocation ID 'eipalloc-2d' does not exist",
        ),
        (
            "ec2.describe_addresses",
            {"AllocationIds": ["eipalloc-2d"]},
            "InvalidAllocationID.NotFound",
            "The allocation ID 'eipalloc-2d' does not exist",
        ),
        (
            "ec2.describe_security_groups",
            {"GroupIds": ["sg-2d"]},
            "InvalidGroup.NotFound",
            "The security group 'sg-2d' does not exist",
        ),
        (
            "ec2.describe_volumes",
            {"VolumeIds": ["vol-2d"]},
            "InvalidVolume.NotFound",
            "The volume 'vol-2d' does not exist.",
        ),
        (
            "ec2.delete_internet_gateway",
            {"InternetGatewayId": "igw-2d"},
            "InvalidInternetGatewayID.NotFound",
            "The internetGateway ID 'igw-2d' does not exist",
        ),
        (
            "ec2.disassociate_address",
            {"AssociationId": "eipassoc-2d"},
            "InvalidAssociationID.NotFound",
            "The association ID 'eipassoc-2d' does not exist",
        ),
        (
            "ec2.create_subnet",
            {"VpcId": "vpc-2d", "CidrBlock": "10.0.0.0/24"},
            "InvalidVpcID.NotFound",
            "The vpc ID 'vpc-2d' does not exist",
        ),
        (
            "ec2.create_security_group",
            {"VpcId": "vpc-2d", "GroupName": "g", "Description": "d"},
            "InvalidVpcID.NotFound",
            "The vpc ID 'vpc-2d' does not exist",
        ),
        (
            "ec2.describe_snapshots",
            {"SnapshotIds": ["snap-2d"]},
            "InvalidSnapshot.NotFound",
            "The snapshot 'snap-2d' does not exist.",
        ),
        (
            "ec2.import_key_pair",
            {"KeyName": "k", "PublicKeyMaterial": b"none"},
            "InvalidKey.Format",
            "Key is not in valid OpenSSH public key format",
        ),
        (
            "cloudwatch.set_alarm_state",
            {"AlarmName": "a", "StateValue": "BAD", "StateReason": "r"},
            "ValidationError",
            "1 validation error detected: Value 'BAD' at 'stateValue' failed to satisfy constraint: Member must satisfy enum value set: [INSUFFICIENT_DATA, ALARM, OK]",
        ),
        (
            "iam.get_policy",
            {"PolicyArn": "arn:aws:iam::123456789012:policy/p"},
            "NoSuchEntity",
            "Policy arn:aws:iam::123456789012:policy/p does not exist or is not attachable.",
        ),
        (
            "iam.get_policy",
            {"PolicyArn": "arn:aws:iam::aws:policy/p"},
            "NoSuchEntity",
            "Policy arn:aws:iam::aws:policy/p was not found.",
        ),
        (
            "iam.list_instance_profiles_for_role",
            {"RoleName": "r"},
            "NoSuchEntity",
            "The role with name r cannot be found.",
        ),
        (
            "iam.simulate_principal_policy",
            {"PolicySourceArn": ROLE, "ActionNames": ["s3:GetObject"]},
            "NoSuchEntity",
            "Unable to retrieve specified IAM entity.",
        ),
        ("ssm.delete_parameter", {"Name": "none"}, "ParameterNotFound", ""),
        (
            "iam.delete_policy",
            {"PolicyArn": "arn:aws:iam::123456789012:policy/p"},
            "NoSuchEntity",
            "Policy arn:aws:iam::123456789012:policy/p was not found.",
        ),
        (
            "logs.delete_resource_policy",
            {"policyName": "p"},
            "ResourceNotFoundException",
            "Policy with name [p] does not exist.",
        ),
        (
            "events.describe_connection",
            {"Name": "c"},
            "ResourceNotFoundException",
            "Failed to describe the connection(s). Connection 'c' does not exist.",
        ),
        (
            "lambda.invoke",
            {"FunctionName": "f"},
            "ResourceNotFoundException",
            "Function not found: arn:aws:lambda:us-east-1:123456789012:function:f:$LATEST",
        ),
        (
            "sts.assume_role",
            {"RoleArn": "nothing-valid-in-here", "RoleSessionName": "session"},
            "ValidationError",
            "nothing-valid-in-here is invalid",
        ),
        (
            "s3.get_bucket_policy",
            {"Bucket": "b", "ExpectedBucketOwner": "abcd"},
            "InvalidBucketOwnerAWSAccountID",
            "The value of the expected bucket owner parameter must be an AWS Account ID... [abcd]",
        ),
        (
            "s3.get_bucket_metrics_configuration",
            {"Bucket": "there", "Id": "i"},
            "NoSuchConfiguration",
            "The specified configuration does not exist.",
        ),
        (
            "s3.put_bucket_replication",
            {"Bucket": "none", "ReplicationConfiguration": {"Role": ROLE, "Rules": []}},
            "NoSuchBucket",
            "The specified bucket does not exist",
        ),
        (
            "sns.publish",
            {"TopicArn": "arn:aws", "Message": "m"},
            "InvalidParameter",
            "Invalid parameter: TopicArn Reason: An ARN must have at least 6 elements, not 2",
        ),
        (
            "sns.publish",
            {"TopicArn": "arn:aws:sns:us-west-2:123456789012:t", "Message": "m"},
            "InvalidParameter",
            "Invalid parameter: TopicArn",
        ),
        (
            "sns.unsubscribe",
            {"SubscriptionArn": "arn:aws:sns:us-east-1:t"},
            "InvalidParameter",
            "Invalid parameter: SubscriptionArn Reason: An ARN must have at least 6 elements, not 5",
        ),
        (
            "sns.unsubscribe",
            {"SubscriptionArn": "arn:aws:sns:us-east-1:123456789012:t"},
            "InvalidParameter",
            "Invalid parameter: SubscriptionId",
        ),
        (
            "sns.publish",
            {"PhoneNumber": "+1a234", "Message": "m"},
            "InvalidParameter",
            "Invalid parameter: PhoneNumber Reason: +1a234 is not valid to publish to",
        ),
        (
            "sqs.receive_message",
            {"QueueUrl": "queue", "WaitTimeSeconds": 21},
            "InvalidParameterValue",
            "Value 21 for parameter WaitTimeSeconds is invalid. Reason: Must be >= 0 and <= 20, if provided.",
        ),
    ],
)
def test_a_refusal_has_the_code_and_words_of_aws(
    local_aws: LocalAws, call: str, given: dict[str, Any], code: str, words: str
) -> None:
    local_aws.client("s3").create_bucket(Bucket="there")
    if "QueueUrl" in given:
        given = {**given, "QueueUrl": local_aws.client("sqs").create_queue(QueueName="q")["QueueUrl"]}
    error = refusal(local_aws, call, given)["Error"]
    assert (error["Code"], error["Message"]) == (code, words)


@pytest.mark.slow
def test_errors_have_the_members_of_their_protocol(local_aws: LocalAws) -> None:
    assert "message" not in refusal(local_aws, "iam.get_role", {"RoleName": "none"})
    told = refusal(local_aws, "lambda.get_function", {"FunctionName": "none"})
    assert (told["Type"], told["Message"]) == ("User", told["Error"]["Message"])
    told = refusal(local_aws, "secretsmanager.get_secret_value", {"SecretId": "none"})
    assert told["Message"] == "Secrets Manager can't find the specified secret."


@pytest.mark.slow
def test_a_body_without_what_its_schema_requires_is_malformed(local_aws: LocalAws) -> None:
    local_aws.client("s3").create_bucket(Bucket="there")
    unchecked = boto3.client(
        "s3",
        region_name="us-east-1",
        endpoint_url=local_aws.endpoint,
        aws_access_key_id=local_aws.key,
        aws_secret_access_key="none",
        config=Config(parameter_validation=False),
    )
    rule = {"ID": "a", "Filter": {"Prefix": ""}, "Expiration": {"Days": 1}}
    with pytest.raises(ClientError, match="MalformedXML"):
        unchecked.put_bucket_lifecycle_configuration(Bucket="there", LifecycleConfiguration={"Rules": [rule]})
    whole = {"Rules": [{**rule, "Status": "Enabled"}]}
    unchecked.put_bucket_lifecycle_configuration(Bucket="there", LifecycleConfiguration=whole)


@pytest.mark.slow
def test_what_is_not_set_is_not_answered(local_aws: LocalAws) -> None:
    template = json.dumps({"Resources": {"Q": {"Type": "AWS::SQS::Queue"}}})
    local_aws.client("cloudformation").create_stack(StackName="s", TemplateBody=template)
    (stack,) = local_aws.client("cloudformation").describe_stacks(StackName="s")["Stacks"]
    assert not {"Parameters", "Capabilities"} & stack.keys()
    assert stack["RollbackConfiguration"] == {}

    alarms = local_aws.client("cloudwatch")
    alarms.put_metric_alarm(
        AlarmName="a",
        MetricName="m",
        Namespace="n",
        Period=60,
        EvaluationPeriods=1,
        Threshold=1,
        Statistic="Sum",
        ComparisonOperator="GreaterThanThreshold",
    )
    (alarm,) = alarms.describe_alarms()["MetricAlarms"]
    assert not {"Metrics", "StateReasonData"} & alarm.keys()

    topics = local_aws.client("sns")
    topic = topics.create_topic(Name="t")["TopicArn"]
    told = topics.get_topic_attributes(TopicArn=topic)["Attributes"]
    assert {"DeliveryPolicy", "FifoTopic", "SignatureVersion"}.isdisjoint(told)
    assert "defaultRequestPolicy" in json.loads(told["EffectiveDeliveryPolicy"])["http"]


@pytest.mark.slow
def test_what_is_asked_for_again_with_its_defaults_is_the_same(local_aws: LocalAws) -> None:
    sns, sqs = local_aws.client("sns"), local_aws.client("sqs")
    topic = sns.create_topic(Name="t", Attributes={"DisplayName": "d"})["TopicArn"]
    for same in ({}, {"DisplayName": "d"}, {"FifoTopic": "false"}):
        assert sns.create_topic(Name="t", Attributes=same)["TopicArn"] == topic
    with pytest.raises(ClientError, match="Topic already exists with different attributes"):
        sns.create_topic(Name="t", Attributes={"SignatureVersion": "2"})

    url = sqs.create_queue(QueueName="q")["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    asked = {"TopicArn": topic, "Protocol": "sqs", "Endpoint": arn}
    made = sns.subscribe(**asked, Attributes={"RawMessageDelivery": "true"})["SubscriptionArn"]
    same = {"RawMessageDelivery": "true", "FilterPolicyScope": "MessageAttributes"}
    assert sns.subscribe(**asked, Attributes=same)["SubscriptionArn"] == made
    with pytest.raises(ClientError, match="Subscription already exists with different attributes"):
        sns.subscribe(**asked, Attributes={"FilterPolicyScope": "MessageBody"})
    with pytest.raises(ClientError, match="FilterPolicy: Unrecognized match type wrong"):
        sns.subscribe(**asked, Attributes={"FilterPolicy": '{"key": [{"wrong": true}]}'})

    sqs.delete_queue(QueueUrl=url)
    assert "MessageId" in sns.publish(TopicArn=topic, Message="to nobody")
