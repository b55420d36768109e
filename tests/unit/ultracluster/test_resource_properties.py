"""What each argument of a construct, and each default, makes of the template."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jmespath
import pytest
import yaml
from tests.unit.ultracluster.every_construct import KEY, PATHS, TOPIC, construct_paths, resources

pytestmark = pytest.mark.slow


EXPECTED: Mapping[str, Mapping[str, Any]] = yaml.safe_load(
    Path(__file__).with_name("resource_properties.yaml").read_text("utf-8")
)

# What fires an alarm: the comparison, the threshold, periods, those that must be above it, and the period of the metric.
ALARMS = {
    "Idle": ("CoreUtilization", "Minimum", "LessThanThreshold", 7, 11, None),
    "Unused": ("UnusedNodes", "Minimum", "GreaterThanOrEqualToThreshold", 1, 11, None),
    "DrainComing": ("SecondsToDrain", "Minimum", "LessThanOrEqualToThreshold", 2700, 1, None),
    "JobWaits": ("WaitSeconds", "Maximum", "GreaterThanOrEqualToThreshold", 2100, 3, None),
    "QueueBlocked": ("BlockedJobs", "Maximum", "GreaterThanOrEqualToThreshold", 1, 5, None),
    "EnvironmentInvalid": ("InvalidEnvironments", "Maximum", "GreaterThanOrEqualToThreshold", 1, 2, None),
    "NodeRefused": ("NodesRefused", "Maximum", "GreaterThanOrEqualToThreshold", 1, 1, None),
    "EfaMissing": ("EfaDevicesMissing", "Maximum", "GreaterThanOrEqualToThreshold", 1, 2, None),
    "NeuronMissing": ("NeuronDevicesMissing", "Maximum", "GreaterThanOrEqualToThreshold", 1, 2, None),
    "TcpFallback": ("TcpFallback", "Sum", "GreaterThanOrEqualToThreshold", 1, 5, 3),
    "NodeFaulty": ("NodeFaults", "Maximum", "GreaterThanOrEqualToThreshold", 1, 1, None),
    "Ecc": ("EccUncorrected", "Sum", "GreaterThanOrEqualToThreshold", 1, 1, None),
    "WatchSilent": ("RunningNodes", "SampleCount", "LessThanThreshold", 1, 5, None),
    "CollectiveShare": ("CollectiveShare", "Average", "GreaterThanOrEqualToThreshold", 0.45, 10, 8),
    "StepStalled": ("StepLateness", "Maximum", "GreaterThanOrEqualToThreshold", 6, 2, None),
}  # fmt: skip

_USE = ["kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey*", "kms:ReEncrypt*"]
_PUBLISH = ["kms:Decrypt", "kms:GenerateDataKey*"]
_CALLER = {"kms:CallerAccount": {"Ref": "AWS::AccountId"}}
# Who may use the key of a cluster: the principal, the actions and the conditions of equality.
KEY_USERS = {
    "Logs": ({"Service": "logs.us-east-2.amazonaws.com"}, _USE, None),
    "Volumes": ({"AWS": "*"}, _USE, _CALLER | {"kms:ViaService": "ec2.us-east-2.amazonaws.com"}),
    "GrantForVolumes": ({"AWS": "*"}, "kms:CreateGrant", _CALLER | {"kms:ViaService": "ec2.us-east-2.amazonaws.com"}),
    "JoinedBuckets": ({"AWS": "*"}, _USE, _CALLER | {"kms:ViaService": "s3.us-east-2.amazonaws.com"}),
    "Alarms": ({"Service": "cloudwatch.amazonaws.com"}, _PUBLISH, {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}),
    "Budgets": ({"Service": "budgets.amazonaws.com"}, _PUBLISH, {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}),
    "Events": ({"Service": "events.amazonaws.com"}, _PUBLISH, None),
}  # fmt: skip

# Operators and keys of the conditions of all policies: a misspelt one would match nothing, or anything.
CONDITIONS = {
    ("ArnEquals", "aws:SourceArn"), ("ArnLike", "aws:PrincipalArn"), ("ArnLike", "aws:SourceArn"), ("ArnLike", "ecs:cluster"),
    ("StringEquals", "aws:ResourceTag/ultracluster:cluster"),
    ("ArnLike", "kms:EncryptionContext:aws:logs:arn"), ("Bool", "aws:SecureTransport"),
    ("Bool", "kms:GrantIsForAWSResource"), ("ForAllValues:StringLike", "dynamodb:LeadingKeys"),
    ("ForAnyValue:StringEquals", "dynamodb:EnclosingOperation"), ("Null", "aws:RequestTag/uc:po"),
    ("Null", "aws:ResourceTag/uc:po"), ("Null", "dynamodb:LeadingKeys"), ("NumericLessThan", "s3:TlsVersion"),
    ("NumericLessThanEquals", "ec2:InstanceCount"), ("NumericLessThanEqualsIfExists", "ec2:InstanceCount"),
    ("StringEquals", "aws:PrincipalAccount"), ("StringEquals", "aws:ResourceAccount"),
    ("StringEquals", "aws:ResourceTag/ultracluster:capacity-reservation"), ("StringEquals", "aws:SourceAccount"),
    ("StringEquals", "cloudwatch:namespace"), ("StringEquals", "ec2:CreateAction"), ("StringEquals", "ec2:InstanceType"),
    ("StringEquals", "ecs:CreateAction"), ("StringEquals", "kms:CallerAccount"), ("StringEquals", "kms:ViaService"),
    ("StringEquals", "ssm:resourceTag/ultracluster:capacity-reservation"),
    ("StringEquals", "ssm:resourceTag/ultracluster:cluster"), ("StringEqualsIfExists", "ec2:InstanceType"),
    ("StringEqualsIfExists", "aws:ResourceTag/ultracluster:cluster"),
    ("StringLike", "ssm:resourceTag/ultracluster:capacity-reservation"), ("StringNotEquals", "ec2:Region"),
}  # fmt: skip

# What is deleted with its stack, or not, by the path of a construct whose removal policy is DESTROY, or the default.
REMOVED = {
    "FullCheckpoints/Resource/Resource", "FullDataset/Resource/Resource", "FullCache/Resource/Resource",
    "FullFileSystem/Resource", "FullFileSystem/SecurityGroup/Resource", "FullFileSystem/Checkpoints",
    "FullKey/Resource/Resource", "FullImages/Resource/Resource",
}  # fmt: skip
KEPT = {
    "Checkpoints/Resource/Resource", "Dataset/Resource/Resource", "Cache/Resource/Resource", "FileSystem/Resource",
    "FileSystem/SecurityGroup/Resource", "Cluster/FileSystem/Checkpoints", "Key/Resource/Resource", "Images/Resource/Resource",
    "Ledger/Resource/Resource", "Queue/Logs/Resource", "Metrics/Logs/Resource", "Lifecycle/State/Resource",
}  # fmt: skip


@pytest.mark.parametrize("path", EXPECTED)
def test_arguments_and_defaults_reach_the_properties(path: str) -> None:
    properties = resources()[path]["Properties"]

    assert {name: jmespath.search(name, properties) for name in EXPECTED[path]} == EXPECTED[path]


@pytest.mark.parametrize("alarm", ALARMS)
def test_alarms_fire_at_their_thresholds(alarm: str) -> None:
    properties = resources()[f"FullAlarms/{alarm}/Resource"]["Properties"]

    assert (
        properties["MetricName"],
        properties["Statistic"],
        properties["ComparisonOperator"],
        pytest.approx(properties["Threshold"]),
        properties["EvaluationPeriods"],
        properties.get("DatapointsToAlarm"),
    ) == ALARMS[alarm]
    assert properties["Period"] == 60
    assert properties["AlarmActions"] == properties["OKActions"] == [TOPIC]
    assert properties["TreatMissingData"] == ("breaching" if alarm == "WatchSilent" else "notBreaching")


def test_only_what_is_to_be_removed_is_deleted_with_its_stack() -> None:
    made = resources()

    assert {made[path]["DeletionPolicy"] for path in REMOVED} == {"Delete"}
    assert {made[path]["UpdateReplacePolicy"] for path in REMOVED} == {"Delete"}
    assert {made[path]["DeletionPolicy"] for path in KEPT} == {"Retain"}
    assert {made[path]["UpdateReplacePolicy"] for path in KEPT} == {"Retain"}
    assert {made[f"Network/{part}"]["DeletionPolicy"] for part in ("Vpc", "Subnet")} == {
        "RetainExceptOnCreate"
    }


def test_topics_take_messages_over_tls_only() -> None:
    policies = [
        each["Properties"] for each in resources().values() if each["Type"] == "AWS::SNS::TopicPolicy"
    ]
    topics = [path for path, each in resources().items() if each["Type"] == "AWS::SNS::Topic"]
    denied = [
        statement
        for policy in policies
        for statement in policy["PolicyDocument"]["Statement"]
        if statement["Effect"] == "Deny"
        and statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
    ]

    assert len(denied) == len(topics) > 0


def test_functions_run_python_on_graviton_and_log_to_a_group_of_their_own() -> None:
    functions = [
        each["Properties"] for each in resources().values() if each["Type"] == "AWS::Lambda::Function"
    ]

    assert {(*each["Architectures"], each["Runtime"]) for each in functions} == {("arm64", "python3.13")}
    groups = {each["LoggingConfig"]["LogGroup"]["Ref"] for each in functions}
    assert len(groups) == len(functions) > 0


def test_a_cluster_key_is_used_by_the_services_of_a_cluster_for_this_account() -> None:
    statements = resources()["Key/Resource/Resource"]["Properties"]["KeyPolicy"]["Statement"]
    named = {each["Sid"]: each for each in statements if "Sid" in each}

    assert {
        sid: (each["Principal"], each["Action"], each.get("Condition", {}).get("StringEquals"))
        for sid, each in named.items()
    } == KEY_USERS
    assert {sid: sorted(each["Condition"]) for sid, each in named.items() if "Condition" in each} == {
        "Logs": ["ArnLike"],
        "Volumes": ["StringEquals"],
        "GrantForVolumes": ["Bool", "StringEquals"],
        "JoinedBuckets": ["ArnLike", "StringEquals"],
        "Alarms": ["StringEquals"],
        "Budgets": ["StringEquals"],
    }
    assert {each["Effect"] for each in statements} == {"Allow"}


def test_functions_may_use_the_key_of_what_they_write_to() -> None:
    encrypted = [
        statement
        for each in resources().values()
        if each["Type"] == "AWS::IAM::Role"
        for policy in each["Properties"].get("Policies", ())
        for statement in policy["PolicyDocument"]["Statement"]
        if statement.get("Sid", "").endswith("Encrypted")
    ]

    assert {each["Sid"] for each in encrypted} == {"RememberEncrypted", "TellEncrypted"}
    assert {each["Resource"] for each in encrypted} == {KEY}


def _conditions(value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        if "Effect" in value:
            for operator, keys in value.get("Condition", {}).items():
                yield from ((operator, key) for key in keys)
        for part in value.values():
            yield from _conditions(part)
    elif isinstance(value, list):
        for part in value:
            yield from _conditions(part)


def test_conditions_use_keys_that_exist() -> None:
    assert set(_conditions(dict(resources()))) == CONDITIONS


def test_cfn_lint_skips_only_rules_that_do_not_apply() -> None:
    skipped = {
        (each["Type"], *each["Metadata"]["cfn-lint"]["config"]["ignore_checks"])
        for each in resources().values()
        if "cfn-lint" in each.get("Metadata", {})
    }

    assert skipped >= {("AWS::Lambda::Function", "W3005"), ("AWS::EC2::LaunchTemplate", "E3628")}
    assert {rule for _, rule in skipped} == {"W3005", "E3628"}


def test_what_keeps_data_or_permissions_is_named_by_cloudformation() -> None:
    """A name of ours would be taken in the account, and keep CloudFormation from replacing what has it."""
    names = {
        "AWS::DynamoDB::Table": "TableName",
        "AWS::Events::Rule": "Name",
        "AWS::IAM::Role": "RoleName",
        "AWS::Lambda::Function": "FunctionName",
        "AWS::Logs::LogGroup": "LogGroupName",
        "AWS::S3::Bucket": "BucketName",
        "AWS::SNS::Topic": "TopicName",
    }
    given = {
        path: (names.get(each["Type"]), each.get("Properties", {})) for path, each in resources().items()
    }

    assert [path for path, (name, properties) in given.items() if name in properties] == []


def test_no_resource_moves_to_another_construct_id() -> None:
    """CloudFormation replaces a resource whose logical ID changes, and the logical ID is made of the construct IDs."""
    assert construct_paths() == PATHS.read_text("utf-8").splitlines()
