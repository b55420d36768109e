"""Checkpoints are never deleted by those that write them."""

import aws_cdk as cdk
import pytest
from aws_cdk import aws_s3 as s3
from tests.unit.ultracluster.builders import of_type, only
from tests.unit.ultracluster.storage.bucket_grants import allowed, key, key_arn, role

from ultracluster import CheckpointBucket, CompileCache, DatasetBucket

pytestmark = pytest.mark.slow


def test_checkpoints_have_versions_and_current_ones_never_expire(stack: cdk.Stack) -> None:
    CheckpointBucket(stack, "Bucket")
    properties = only(stack, "AWS::S3::Bucket")
    assert properties["VersioningConfiguration"] == {"Status": "Enabled"}
    for rule in properties["LifecycleConfiguration"]["Rules"]:
        assert not {"ExpirationInDays", "ExpirationDate", "ExpiredObjectDeleteMarker"} & rule.keys()


def test_no_grant_allows_deleting_a_checkpoint_or_a_cache_entry(stack: cdk.Stack) -> None:
    grantee = role(stack)
    CheckpointBucket(stack, "Checkpoints").grant_use(grantee).assert_success()
    CompileCache(stack, "Cache").grant_use(grantee).assert_success()
    actions = {action for statement, _ in allowed(stack) for action in statement}
    assert actions == {"s3:AbortMultipartUpload", "s3:GetObject", "s3:ListBucket", "s3:PutObject"}


@pytest.mark.parametrize("construct", [CheckpointBucket, DatasetBucket])
def test_an_existing_bucket_is_used_as_it_is(
    stack: cdk.Stack, construct: type[CheckpointBucket] | type[DatasetBucket]
) -> None:
    bucket = s3.Bucket.from_bucket_attributes(stack, "Ours", bucket_name="ours", encryption_key=key(stack))
    brought = construct.from_bucket(stack, "Bucket", bucket)
    assert brought.bucket.bucket_name == "ours"
    grant = brought.grant_read if isinstance(brought, DatasetBucket) else brought.grant_use
    grant(role(stack)).assert_success()
    assert of_type(stack, "AWS::S3::Bucket") == []
    assert any(on == key_arn(stack) for _, on in allowed(stack))
