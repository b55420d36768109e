"""The buckets of a cluster: checkpoints, datasets, compiled graphs; new ones, or those that exist."""

import aws_cdk as cdk
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from ultracluster import CheckpointBucket, CompileCache, DatasetBucket
from ultracluster_stacks.config import CheckpointsConfig, CompileCacheConfig, DatasetConfig

__all__ = ["checkpoint_bucket", "compile_cache_bucket", "dataset_bucket", "encryption_key"]


def checkpoint_bucket(
    scope: Construct, given: CheckpointsConfig, kms_key: kms.IKey | None
) -> CheckpointBucket:
    """Give the bucket for checkpoints, new or existing; `kms_key` is for a new one without a key of its own."""
    if given.bucket_name is not None:
        bucket = _existing_bucket(scope, "ExistingCheckpoints", given.bucket_name, given.kms_key_arn)
        return CheckpointBucket.from_bucket(scope, "Checkpoints", bucket)
    return CheckpointBucket(
        scope,
        "Checkpoints",
        kms_key=encryption_key(scope, "CheckpointsKey", given.kms_key_arn) or kms_key,
        noncurrent_version_expiration=_days(given.noncurrent_days),
    )


def dataset_bucket(scope: Construct, given: DatasetConfig, kms_key: kms.IKey | None) -> DatasetBucket:
    """Give the bucket of a dataset, new or existing; `kms_key` is for a new one without a key of its own."""
    construct_id = f"Dataset-{given.name}"
    if given.bucket_name is not None:
        bucket = _existing_bucket(scope, f"Existing{construct_id}", given.bucket_name, given.kms_key_arn)
        return DatasetBucket.from_bucket(scope, construct_id, bucket)
    return DatasetBucket(
        scope,
        construct_id,
        kms_key=encryption_key(scope, f"Key-{given.name}", given.kms_key_arn) or kms_key,
        noncurrent_version_expiration=_days(given.noncurrent_days),
    )


def compile_cache_bucket(
    scope: Construct, given: CompileCacheConfig, kms_key: kms.IKey | None
) -> CompileCache:
    """Give the compile cache on S3."""
    return CompileCache(
        scope,
        "CompileCache",
        expire_after=_days(given.expire_after_days),
        expire_compilers={
            version: cdk.Duration.days(days) for version, days in given.expire_compilers.items()
        },
        request_metrics=given.request_metrics,
        versioned=given.versioned,
        kms_key=kms_key,
        replicate_to=[
            s3.Bucket.from_bucket_name(scope, f"CopiesOfCache{index + 1}", name)
            for index, name in enumerate(given.replicate_to)
        ],
    )


def encryption_key(scope: Construct, construct_id: str, arn: str | None) -> kms.IKey | None:
    """Give a key by its ARN."""
    return None if arn is None else kms.Key.from_key_arn(scope, construct_id, arn)


def _existing_bucket(scope: Construct, construct_id: str, name: str, key_arn: str | None) -> s3.IBucket:
    return s3.Bucket.from_bucket_attributes(
        scope,
        construct_id,
        bucket_name=name,
        encryption_key=encryption_key(scope, f"{construct_id}Key", key_arn),
    )


def _days(days: int | None) -> cdk.Duration | None:
    return None if days is None else cdk.Duration.days(days)
