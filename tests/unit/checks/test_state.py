"""Rules for resources that hold data: buckets, tables, keys, disks."""

from typing import Any

import pytest
from tests.unit.checks.defects import DROP
from tests.unit.checks.edits import codes_after

from ultracluster_checks import Source, check_templates

BROKEN: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("UC5205", "lustre-data", {"BucketPolicy/PolicyDocument/Statement/0/Effect": "Allow"}),
    ("UC5207", "lustre-data", {"Bucket/AccessControl": "PublicRead"}),
    (
        "UC5201",
        "lustre-data",
        {
            "/Resources/Rows": {
                "Type": "AWS::RDS::DBInstance",
                "DeletionPolicy": "Delete",
            }
        },
    ),
    ("UC5214", "lustre-data", {"Key/Enabled": False}),
    (
        "UC5215",
        "lustre-data",
        {
            "/Resources/All": {
                "Type": "AWS::Backup::BackupSelection",
                "Properties": {"BackupSelection": {"SelectionName": "all"}},
            }
        },
    ),
    (
        "UC5215",
        "lustre-data",
        {
            "/Resources/Plan": {
                "Type": "AWS::Backup::BackupPlan",
                "Properties": {"BackupPlan": {"BackupPlanRule": [{"Lifecycle": {"DeleteAfterDays": 1}}]}},
            }
        },
    ),
    ("UC5215", "lustre-data", {"Bucket/ReplicationConfiguration": {"Rules": [{"Status": "Disabled"}]}}),
    (
        "UC5201",
        "lustre-data",
        {"/Resources/Images": {"Type": "AWS::ECR::Repository", "DeletionPolicy": "Delete"}},
    ),
    ("UC5205", "lustre-data", {"BucketPolicy/PolicyDocument/Statement/0/Action": "s3:ListBucket"}),
    ("UC5209", "lustre-data", {"Bucket/VersioningConfiguration": DROP}),
    (
        "UC5210",
        "lustre-data",
        {"Bucket/LifecycleConfiguration": {"Rules": [{"Status": "Enabled", "ExpirationInDays": 30}]}},
    ),
)

KEPT: tuple[tuple[str, dict[str, Any]], ...] = (
    (
        "lustre-data",
        {"Bucket/LifecycleConfiguration/Rules/+": {"Status": "Disabled", "ExpirationInDays": 30}},
    ),
    ("lustre-data", {"Table/@DeletionPolicy": "RetainExceptOnCreate"}),
    (
        "lustre-data",
        {"Bucket/PublicAccessBlockConfiguration": DROP},
    ),  # S3 blocks public access of new buckets since 2023-04
    (
        "lustre-data",
        {"/Resources/Rows": {"Type": "AWS::RDS::DBCluster"}},
    ),  # CloudFormation takes a snapshot by default
    ("lustre-data", {"/Parameters/CapacityGiB/Default": ""}),
    ("lustre-data", {"Key/KeySpec": "RSA_4096", "Key/EnableKeyRotation": DROP}),
    (
        "lustre-data",
        {"BucketPolicy/PolicyDocument/Statement/0/Condition": {"Bool": {"aws:SecureTransport": ["false"]}}},
    ),
)


@pytest.mark.parametrize(
    ("code", "base", "edits"), BROKEN, ids=lambda value: value if isinstance(value, str) else ""
)
def test_edit_breaks_the_rule(
    foreign: dict[str, Source], code: str, base: str, edits: dict[str, Any]
) -> None:
    assert code in codes_after(foreign, base, edits)


@pytest.mark.parametrize(("base", "edits"), KEPT, ids=str)
def test_edit_within_the_rules_breaks_none(
    foreign: dict[str, Source], base: str, edits: dict[str, Any]
) -> None:
    assert codes_after(foreign, base, edits) == []


def found(kind: str, properties: dict[str, Any], name: str = "Checkpoints") -> set[str]:
    """Return the codes about versions and expiry for one resource."""
    body = {"Resources": {name: {"Type": f"AWS::{kind}", "Properties": properties}}}
    report = check_templates([Source(name="it", body=body)])
    return {each.code for each in report.findings} & {"UC5209", "UC5210"}


@pytest.mark.parametrize(
    ("events", "name", "codes"),
    [
        (["NEW", "CHANGED"], "Checkpoints", set()),
        (["NEW"], "Checkpoints", {"UC5209"}),
        (None, "Checkpoints", {"UC5209"}),
        (None, "Dataset", set()),
    ],
)
def test_links_of_checkpoints_export_new_and_changed_files(events: Any, name: str, codes: set[str]) -> None:
    linked = {} if events is None else {"S3": {"AutoExportPolicy": {"Events": events}}}

    assert found("FSx::DataRepositoryAssociation", linked, name) == codes


@pytest.mark.parametrize(
    ("rule", "codes"),
    [
        ({"ExpirationInDays": 45}, {"UC5210"}),
        ({"ExpirationInDays": 45, "Prefix": ""}, {"UC5210"}),
        ({"ExpirationInDays": 45, "Prefix": "scratch/"}, set()),
        ({"NoncurrentVersionExpiration": {"NoncurrentDays": 30}}, set()),
    ],
)
def test_a_bucket_of_checkpoints_expires_no_object_but_some(rule: dict[str, Any], codes: set[str]) -> None:
    rules = {"LifecycleConfiguration": {"Rules": [{"Status": "Enabled"} | rule]}}

    assert found("S3::Bucket", rules) == codes
    assert found("S3::Bucket", rules, "Scratch") == set()


@pytest.mark.parametrize(("status", "codes"), [("Suspended", {"UC5209"}), ("Enabled", set())])
def test_versions_are_not_switched_off(status: str, codes: set[str]) -> None:
    assert found("S3::Bucket", {"VersioningConfiguration": {"Status": status}}, "Models") == codes


@pytest.mark.parametrize(
    ("value", "mounts", "codes"),
    [
        ("file:///tmp/checkpoints", [], {"UC5210"}),
        ("/dev/shm/run", [], {"UC5210"}),  # noqa: S108 - in a template, not on this machine
        ("/mnt/run", ["/mnt/run"], set()),
        ("/fsx/checkpoints", [], set()),
        ("s3://data/checkpoints", [], set()),
    ],
)
def test_checkpoints_leave_the_container(value: str, mounts: list[str], codes: set[str]) -> None:
    points = [{"SourceVolume": "kept", "ContainerPath": each} for each in mounts]
    container = {"Environment": [{"Name": "CHECKPOINT_DIR", "Value": value}], "MountPoints": points}

    assert found("Batch::JobDefinition", {"ContainerProperties": container}, "Train") == codes


@pytest.mark.parametrize(("named", "found"), [({"Ref": "Data"}, False), ("data", False), ("other", True)])
def test_a_policy_applies_to_the_bucket_that_it_names(named: Any, found: bool) -> None:
    denial = {
        "Effect": "Deny",
        "Principal": "*",
        "Action": "s3:*",
        "Resource": "*",
        "Condition": {"Bool": {"aws:SecureTransport": "false"}},
    }
    resources = {
        "Data": {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": "data"}},
        "Policy": {
            "Type": "AWS::S3::BucketPolicy",
            "Properties": {"Bucket": named, "PolicyDocument": {"Statement": [denial]}},
        },
    }
    report = check_templates([Source(name="it", body={"Resources": resources})])

    assert ("UC5205" in {each.code for each in report.findings}) is found
