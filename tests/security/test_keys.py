"""What keeps data is encrypted, with a key of one's own wherever one is given."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from tests.security.everything import KEY
from tests.security.templates import ACCOUNT, REGION, Template
from tests.unit.ultracluster.iam_evaluation import Context, allows

pytestmark = pytest.mark.slow

Properties = Mapping[str, Any]
Keys = list[str | None]


def _bucket(properties: Properties) -> Keys:
    rules = properties["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    return [each["ServerSideEncryptionByDefault"].get("KMSMasterKeyID") for each in rules]


def _volumes(properties: Properties) -> Keys:
    disks = [each["Ebs"] for each in properties["LaunchTemplateData"]["BlockDeviceMappings"]]
    assert all(disk["Encrypted"] is True for disk in disks)
    return [disk.get("KmsKeyId") for disk in disks]


# The key of everything that keeps data, by its type; None stands for a key of AWS.
STORES: Mapping[str, Callable[[Properties], Keys]] = {
    "AWS::DynamoDB::Table": lambda properties: [properties.get("SSESpecification", {}).get("KMSMasterKeyId")],
    "AWS::EC2::LaunchTemplate": _volumes,
    "AWS::ECR::Repository": lambda properties: [properties["EncryptionConfiguration"].get("KmsKey")],
    "AWS::FSx::FileSystem": lambda properties: [properties.get("KmsKeyId")],
    "AWS::Logs::LogGroup": lambda properties: [properties.get("KmsKeyId")],
    "AWS::S3::Bucket": _bucket,
    "AWS::SNS::Topic": lambda properties: [properties.get("KmsMasterKeyId")],
}
# Volumes of the instances that bake: their AMI is copied to other Regions, where the key is not.
NOT_OURS_TO_CHOOSE = {"AWS::ImageBuilder::ImageRecipe"}
KEEP_NOTHING = {
    "AWS::AutoScaling::AutoScalingGroup",
    "AWS::Batch::ComputeEnvironment",
    "AWS::Batch::JobDefinition",
    "AWS::Batch::JobQueue",
    "AWS::Batch::QuotaShare",
    "AWS::Batch::SchedulingPolicy",
    "AWS::Batch::ServiceEnvironment",
    "AWS::Budgets::Budget",
    "AWS::CloudWatch::Alarm",
    "AWS::CloudWatch::CompositeAlarm",
    "AWS::CloudWatch::Dashboard",
    "AWS::Events::Rule",
    "AWS::FSx::DataRepositoryAssociation",
    "AWS::ImageBuilder::Component",
    "AWS::ImageBuilder::DistributionConfiguration",
    "AWS::ImageBuilder::ImagePipeline",
    "AWS::ImageBuilder::InfrastructureConfiguration",
    "AWS::KMS::Key",
    # Ids and times; its environment names resources, and a layout test looks for secrets.
    "AWS::Lambda::EventInvokeConfig",
    "AWS::Lambda::Function",
    "AWS::Lambda::Permission",
    "AWS::S3::BucketPolicy",
    "AWS::SNS::Subscription",
    "AWS::SNS::TopicPolicy",
    "Custom::UltraClusterEcsCluster",
}


def _stores(templates: list[Template]) -> dict[str, Keys]:
    return {
        f"{template.name}/{key}": read(properties)
        for template in templates
        for kind, read in STORES.items()
        for key, properties in template.of_type(kind)
    }


def test_every_type_is_known_to_keep_data_or_not(templates: list[Template]) -> None:
    emitted = {each["Type"] for template in templates for each in template.resources.values()}
    known = STORES.keys() | NOT_OURS_TO_CHOOSE | KEEP_NOTHING
    others = {kind for kind in emitted - known if not kind.startswith(("AWS::EC2::", "AWS::IAM::"))}
    assert others == set()
    assert emitted >= STORES.keys()


def test_with_a_key_everything_of_a_cluster_names_it(templates: list[Template]) -> None:
    stores = _stores([each for each in templates if each.name.startswith(("bounded", "joined"))])
    assert len(stores) >= 28
    assert {name: keys for name, keys in stores.items() if set(keys) != {KEY}} == {}


def test_without_one_keys_of_aws_encrypt(templates: list[Template]) -> None:
    stores = _stores([each for each in templates if each.name.startswith("usual")])
    assert len(stores) >= 10
    assert {key for keys in stores.values() for key in keys} == {None}


# The policy of a `ClusterKey`


def _key_allows(templates: list[Template], principal: Any, action: str, context: Context) -> bool:
    (others,) = [each for each in templates if each.name == "Others"]
    (key,) = [properties for name, properties in others.of_type("AWS::KMS::Key") if name.startswith("Key")]
    assert key["EnableKeyRotation"] is True
    statements = [each for each in key["KeyPolicy"]["Statement"] if each["Principal"] == principal]
    assert statements
    return allows(statements, action, "*", context)


ANYBODY = {"AWS": "*"}
EC2 = {"kms:CallerAccount": ACCOUNT, "kms:ViaService": f"ec2.{REGION}.amazonaws.com"}
S3 = {"kms:CallerAccount": ACCOUNT, "kms:ViaService": f"s3.{REGION}.amazonaws.com"}
FSX = f"arn:aws:iam::{ACCOUNT}:role/aws-service-role/s3.data-source.lustre.fsx.amazonaws.com/AWSServiceRoleForFSxS3Access_fs-1"
LOGS = {"Service": f"logs.{REGION}.amazonaws.com"}
LOG_GROUP = f"arn:aws:logs:{REGION}:{ACCOUNT}:log-group:jobs"
FOR_AWS = {"kms:GrantIsForAWSResource": "true"}


@pytest.mark.parametrize(
    ("principal", "action", "context", "allowed"),
    [
        (LOGS, "kms:GenerateDataKey", {"kms:EncryptionContext:aws:logs:arn": LOG_GROUP}, True),
        (
            LOGS,
            "kms:Decrypt",
            {"kms:EncryptionContext:aws:logs:arn": LOG_GROUP.replace(ACCOUNT, "999999999999")},
            False,
        ),
        (LOGS, "kms:Decrypt", {}, False),
        (ANYBODY, "kms:GenerateDataKeyWithoutPlaintext", EC2, True),
        (ANYBODY, "kms:Decrypt", EC2 | {"kms:CallerAccount": "999999999999"}, False),
        (ANYBODY, "kms:Decrypt", {"kms:CallerAccount": ACCOUNT}, False),
        (ANYBODY, "kms:CreateGrant", EC2 | FOR_AWS, True),
        (ANYBODY, "kms:CreateGrant", EC2 | {"kms:GrantIsForAWSResource": "false"}, False),
        (ANYBODY, "kms:CreateGrant", EC2, False),
        (ANYBODY, "kms:Decrypt", S3 | {"aws:PrincipalArn": FSX}, True),
        (ANYBODY, "kms:Decrypt", S3 | {"aws:PrincipalArn": f"arn:aws:iam::{ACCOUNT}:role/any"}, False),
        (ANYBODY, "kms:ScheduleKeyDeletion", EC2 | FOR_AWS, False),
        ({"Service": "cloudwatch.amazonaws.com"}, "kms:Decrypt", {"aws:SourceAccount": ACCOUNT}, True),
        ({"Service": "cloudwatch.amazonaws.com"}, "kms:Decrypt", {"aws:SourceAccount": "9" * 12}, False),
        ({"Service": "budgets.amazonaws.com"}, "kms:GenerateDataKey", {"aws:SourceAccount": ACCOUNT}, True),
        ({"Service": "events.amazonaws.com"}, "kms:GenerateDataKey", {}, True),
        ({"Service": "events.amazonaws.com"}, "kms:Encrypt", {}, False),
    ],
)
def test_the_policy_of_a_key_allows_the_services_of_a_cluster_and_no_one_else(
    templates: list[Template], principal: Any, action: str, context: Context, *, allowed: bool
) -> None:
    assert _key_allows(templates, principal, action, context) is allowed
