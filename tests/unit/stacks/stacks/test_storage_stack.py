"""Buckets of a rollout are new ones with its settings, or imported by name."""

from collections.abc import Callable

import pytest
from aws_cdk import aws_kms as kms
from tests.unit.ultracluster import builders

from ultracluster_spec.cluster import Cluster
from ultracluster_stacks.stacks.storage_stack import (
    checkpoint_bucket,
    compile_cache_bucket,
    dataset_bucket,
    imported_key,
)

pytestmark = pytest.mark.slow

KEY = "arn:aws:kms:us-east-2:123456789012:key/01234567-89ab-cdef-0123-456789abcdef"
OTHER_KEY = KEY.replace("0123-", "4567-")


def days_of_old_versions(bucket: dict[str, object]) -> list[object]:
    rules = bucket["LifecycleConfiguration"]["Rules"]  # type: ignore[index]  # a template is untyped
    return [
        rule["NoncurrentVersionExpiration"]["NoncurrentDays"]
        for rule in rules
        if "NoncurrentVersionExpiration" in rule
    ]


def test_a_bucket_with_a_name_is_imported(configured: Callable[..., Cluster]) -> None:
    stack = builders.new_stack()
    config = configured("checkpoints: {bucket_name: ours}", "datasets: [{name: c4, bucket_name: corpora}]")

    checkpoints = checkpoint_bucket(stack, config.checkpoints, None)
    dataset = dataset_bucket(stack, config.datasets[0], None)

    assert (checkpoints.bucket.bucket_name, dataset.bucket.bucket_name) == ("ours", "corpora")
    assert builders.of_type(stack, "AWS::S3::Bucket") == []


@pytest.mark.parametrize(("setting", "key"), [("", KEY), (f", kms_key_arn: '{OTHER_KEY}'", OTHER_KEY)])
def test_a_new_bucket_has_its_own_key_or_that_of_the_cluster(
    configured: Callable[..., Cluster], setting: str, key: str
) -> None:
    stack = builders.new_stack()
    config = configured(
        f"checkpoints: {{noncurrent_days: 9{setting}}}",
        f"datasets: [{{name: c4, noncurrent_days: 8{setting}}}]",
    )
    default = kms.Key.from_key_arn(stack, "Default", KEY)

    checkpoint_bucket(stack, config.checkpoints, default)
    dataset_bucket(stack, config.datasets[0], default)

    buckets = [bucket["Properties"] for bucket in builders.of_type(stack, "AWS::S3::Bucket")]
    assert sorted(str(days_of_old_versions(bucket)) for bucket in buckets) == ["[8]", "[9]"]
    assert all(key in str(bucket["BucketEncryption"]) for bucket in buckets)


def test_a_compile_cache_is_replicated_to_each_named_bucket(configured: Callable[..., Cluster]) -> None:
    stack = builders.new_stack()
    config = configured("compile_cache: {expire_after_days: 30, replicate_to: [melbourne, mumbai]}")

    compile_cache_bucket(stack, config.compile_cache, None)

    bucket = builders.only(stack, "AWS::S3::Bucket")
    assert bucket["VersioningConfiguration"] == {"Status": "Enabled"}
    assert "melbourne" in str(bucket["ReplicationConfiguration"])
    assert "mumbai" in str(bucket["ReplicationConfiguration"])
    assert "'ExpirationInDays': 30" in str(bucket["LifecycleConfiguration"])


def test_without_an_arn_no_key_is_imported() -> None:
    stack = builders.new_stack()

    assert imported_key(stack, "None", None) is None
    key = imported_key(stack, "Some", KEY)
    assert key is not None
    assert key.key_arn == KEY
