"""References to a resource of the kind that their property takes."""

from typing import Any

import pytest

from ultracluster_checks import Source, check_templates

BESIDE: dict[str, Any] = {
    "Bucket": {"Type": "AWS::S3::Bucket"},
    "Elsewhere": {"Type": "AWS::S3::Bucket"},
    "Group": {"Type": "AWS::EC2::SecurityGroup"},
    "Key": {"Type": "AWS::KMS::Key"},
    "Log": {"Type": "AWS::Logs::LogGroup"},
    "Made": {"Type": "Custom::Subnet"},
    "Network": {"Type": "AWS::EC2::VPC"},
    "Role": {"Type": "AWS::IAM::Role"},
    "Subnet": {"Type": "AWS::EC2::Subnet"},
    "Topic": {"Type": "AWS::SNS::Topic"},
}


def ref(name: str) -> dict[str, Any]:
    return {"Ref": name}


def arn(name: str) -> dict[str, Any]:
    return {"Fn::GetAtt": [name, "Arn"]}


def allowed(*on: Any) -> dict[str, Any]:
    return {"Statement": [{"Effect": "Allow", "Action": "s3:GetObject", "Resource": [*on]}]}


BROKEN: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("UC6464", "Lambda::Function", {"Role": arn("Bucket")}),
    ("UC6464", "Lambda::Function", {"VpcConfig": {"SubnetIds": [ref("Network")]}}),
    ("UC6464", "FSx::FileSystem", {"SecurityGroupIds": [ref("Subnet")]}),
    ("UC6464", "SNS::Subscription", {"TopicArn": ref("Log")}),
    ("UC6464", "Logs::LogGroup", {"KmsKeyId": arn("Role")}),
    ("UC6464", "Logs::MetricFilter", {"LogGroupName": arn("Log")}),
    ("UC6464", "StepFunctions::StateMachine", {"RoleArn": ref("Role")}),
    ("UC6464", "IAM::ManagedPolicy", {"PolicyDocument": allowed(ref("Bucket"))}),
    ("UC6464", "S3::BucketPolicy", {"Bucket": ref("Bucket"), "PolicyDocument": allowed({"Fn::Sub": "${Elsewhere.Arn}/*"})}),
)  # fmt: skip
KEPT: tuple[tuple[str, dict[str, Any]], ...] = (
    ("Lambda::Function", {"Role": arn("Role"), "VpcConfig": {"SubnetIds": [ref("Subnet"), ref("Made")]}}),
    ("FSx::FileSystem", {"SecurityGroupIds": [{"Fn::GetAtt": ["Network", "DefaultSecurityGroup"]}]}),
    ("SNS::Subscription", {"TopicArn": ref("Topic")}),
    ("Logs::MetricFilter", {"LogGroupName": ref("Log")}),
    ("IAM::ManagedPolicy", {"PolicyDocument": allowed(arn("Bucket"), ref("Topic"))}),
    ("S3::BucketPolicy", {"Bucket": ref("Bucket"), "PolicyDocument": allowed(arn("Bucket"), {"Fn::Sub": "${Bucket.Arn}/*"})}),
)  # fmt: skip


def codes(kind: str, properties: dict[str, Any]) -> set[str]:
    body = {"Resources": BESIDE | {"It": {"Type": f"AWS::{kind}", "Properties": properties}}}
    return {each.code for each in check_templates([Source(name="it", body=body)]).findings}


@pytest.mark.parametrize(("code", "kind", "properties"), BROKEN)
def test_a_reference_that_does_not_fit_breaks_the_rule(code: str, kind: str, properties: dict[str, Any]) -> None:  # fmt: skip
    assert code in codes(kind, properties)


@pytest.mark.parametrize(("kind", "properties"), KEPT, ids=str)
def test_a_reference_that_fits_keeps_the_rule(kind: str, properties: dict[str, Any]) -> None:
    assert codes(kind, properties) & {"UC6464"} == set()


def test_a_backup_selects_by_a_tag_that_something_has() -> None:
    for value, found in (("daily", False), ("nightly", True), ({"Ref": "Plan"}, False)):
        tag = {"ConditionType": "STRINGEQUALS", "ConditionKey": "backup", "ConditionValue": value}
        resources = {
            "Home": {"Type": "AWS::EFS::FileSystem", "Properties": {"FileSystemTags": [], "Tags": [{"Key": "backup", "Value": "daily"}]}},
            "Selection": {"Type": "AWS::Backup::BackupSelection", "Properties": {"BackupSelection": {"ListOfTags": [tag]}}},
        }  # fmt: skip
        report = check_templates([Source(name="it", body={"Resources": resources})])
        assert ("UC6464" in {each.code for each in report.findings}) is found


def test_a_permission_asks_for_a_tag_that_something_has() -> None:
    for value, found in (("fleet", False), ("flete", True)):
        terminate = {"Effect": "Allow", "Action": "ec2:TerminateInstances", "Resource": "*"}
        terminate |= {"Condition": {"StringEquals": {"ec2:ResourceTag/group": value}}}
        policy = {"PolicyDocument": {"Statement": [terminate]}}
        tags = [{"ResourceType": "instance", "Tags": [{"Key": "group", "Value": "fleet"}]}]
        data = {"LaunchTemplateData": {"TagSpecifications": tags}}
        resources = {
            "Stop": {"Type": "AWS::IAM::ManagedPolicy", "Properties": policy},
            "Nodes": {"Type": "AWS::EC2::LaunchTemplate", "Properties": data},
        }
        report = check_templates([Source(name="it", body={"Resources": resources})])
        assert ("UC6464" in {each.code for each in report.findings}) is found
