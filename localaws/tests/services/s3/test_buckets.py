"""Replication of buckets on the local AWS: what S3 refuses, and that it is read back as it was put."""

from typing import Any

import pytest

pytestmark = pytest.mark.slow

VERSIONED = {"VersioningConfiguration": {"Status": "Enabled"}}


def bucket(name: str, **properties: Any) -> dict[str, Any]:
    return {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": name, **properties}}


def copies(destination: str, **properties: Any) -> dict[str, Any]:
    rule = {
        "Id": "copy-1",
        "Status": "Enabled",
        "Priority": 1,
        "Filter": {"Prefix": "neuron/"},
        "DeleteMarkerReplication": {"Status": "Disabled"},
        "Destination": {"Bucket": f"arn:aws:s3:::{destination}"},
    }
    role = "arn:aws:iam::123456789012:role/copies"
    return bucket("source", ReplicationConfiguration={"Role": role, "Rules": [rule]}, **properties)


@pytest.mark.parametrize(
    ("destination", "versioned", "said"),
    [
        (None, True, "must exist"),
        ({}, True, "must have versioning enabled"),
        (VERSIONED, False, "Versioning must be 'Enabled'"),
        (VERSIONED, True, ""),
    ],
)
def test_copies_go_from_versions_to_a_bucket_with_versions(
    stacks: Any, destination: dict[str, Any] | None, versioned: bool, said: str
) -> None:
    if destination is not None:
        stacks.create("there", {"Resources": {"B": bucket("there", **destination)}})
    template = {"Resources": {"B": copies("there", **(VERSIONED if versioned else {}))}}

    status = stacks.create("here", template)

    assert status == ("ROLLBACK_COMPLETE" if said else "CREATE_COMPLETE")
    assert said in stacks.reasons("here").get("B", "")


def test_copies_come_and_go_with_versions_in_the_order_that_s3_wants(stacks: Any) -> None:
    stacks.create("there", {"Resources": {"B": bucket("there", **VERSIONED)}})
    stacks.create("here", {"Resources": {"B": bucket("source")}})

    assert stacks.update("here", {"Resources": {"B": copies("there", **VERSIONED)}}) == "UPDATE_COMPLETE"
    s3 = stacks.local.client("s3")
    (rule,) = s3.get_bucket_replication(Bucket="source")["ReplicationConfiguration"]["Rules"]
    assert (rule["ID"], rule["Filter"], rule["Priority"]) == ("copy-1", {"Prefix": "neuron/"}, 1)

    assert stacks.update("here", {"Resources": {"B": bucket("source")}}) == "UPDATE_COMPLETE"
    assert s3.get_bucket_versioning(Bucket="source")["Status"] == "Suspended"
    with pytest.raises(s3.exceptions.ClientError, match="ReplicationConfigurationNotFoundError"):
        s3.get_bucket_replication(Bucket="source")
