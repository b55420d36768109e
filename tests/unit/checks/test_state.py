"""Rules for resources that hold data: buckets, tables, keys, disks."""

from typing import Any

import pytest

from ultracluster_checks import Source, check_templates


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
