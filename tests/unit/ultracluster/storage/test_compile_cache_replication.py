"""New entries of a bucket are copied to other Regions."""

import aws_cdk as cdk
import pytest
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from tests.unit.ultracluster.builders import only

from ultracluster import (
    CompileCache,
)
from ultracluster_spec.findings import FindingsError

pytestmark = pytest.mark.slow


def copies(stack: cdk.Stack, *names: str) -> list[s3.IBucket]:
    return [s3.Bucket.from_bucket_name(stack, f"Copies{index}", name) for index, name in enumerate(names)]


def test_new_entries_are_copied_to_other_regions_and_removals_are_not(stack: cdk.Stack) -> None:
    CompileCache(stack, "Cache", replicate_to=copies(stack, "melbourne", "mumbai"))
    bucket = only(stack, "AWS::S3::Bucket")

    assert bucket["VersioningConfiguration"] == {"Status": "Enabled"}
    rules = bucket["ReplicationConfiguration"]["Rules"]
    assert [rule["DeleteMarkerReplication"] for rule in rules] == [{"Status": "Disabled"}] * 2
    assert [rule["Filter"] for rule in rules] == [{"Prefix": "neuron/"}] * 2
    assert [rule["Priority"] for rule in rules] == [1, 2]
    assert [rule["Destination"]["Bucket"]["Fn::Join"][1][-1] for rule in rules] == [
        ":s3:::melbourne",
        ":s3:::mumbai",
    ]
    assert bucket["LifecycleConfiguration"]["Rules"][0]["NoncurrentVersionExpiration"] == {
        "NoncurrentDays": 7
    }


def test_rejects_a_destination_twice_and_one_with_a_key(stack: cdk.Stack) -> None:
    key = kms.Key.from_key_arn(stack, "Key", f"arn:aws:kms:us-east-2:123456789012:key/{'0' * 8}")
    with_key = s3.Bucket.from_bucket_attributes(stack, "WithKey", bucket_name="secret", encryption_key=key)
    with pytest.raises(FindingsError) as refused:
        CompileCache(stack, "Cache", replicate_to=[*copies(stack, "melbourne", "melbourne"), with_key])

    assert [(one.code, one.path) for one in refused.value.findings] == [
        ("UC5140", "replicate_to[1]"),
        ("UC5141", "replicate_to[2]"),
    ]
