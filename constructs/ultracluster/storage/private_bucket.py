"""Defaults of all buckets of a cluster: private, encrypted, TLS only, with a generated name."""

from collections.abc import Mapping, Sequence

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from ultracluster._foundation.permissions import grant
from ultracluster_spec.buckets import check_age
from ultracluster_spec.findings import Finding

_MINIMUM_TLS = 1.2


def define_bucket(
    scope: Construct,
    *,
    versioned: bool,
    lifecycle_rules: Sequence[s3.LifecycleRule],
    removal_policy: RemovalPolicy,
    kms_key: kms.IKey | None = None,
    replication_role: iam.IRole | None = None,
    replication_rules: Sequence[s3.ReplicationRule] | None = None,
) -> s3.Bucket:
    """Define the bucket of a construct as its child ``Resource``."""
    bucket = s3.Bucket(
        scope,
        "Resource",
        versioned=versioned,
        encryption=s3.BucketEncryption.KMS if kms_key else s3.BucketEncryption.S3_MANAGED,
        encryption_key=kms_key,
        # One request to KMS for many objects; irrelevant without a KMS key.
        bucket_key_enabled=True if kms_key else None,
        enforce_ssl=True,
        minimum_tls_version=_MINIMUM_TLS,
        block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
        object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
        removal_policy=removal_policy,
        lifecycle_rules=list(lifecycle_rules),
        replication_role=replication_role,
        replication_rules=list(replication_rules) if replication_rules else None,
    )
    scope.node.default_child = bucket.node.default_child
    return bucket


def check_ages(ages: Mapping[str, Duration | None], *, least: int = 1) -> list[Finding]:
    """Check the ages at which objects expire or move, as far as they are known."""
    return [
        finding
        for path, age in ages.items()
        if age is not None and not age.is_unresolved()
        for finding in check_age(age.to_seconds(), least=least, path=path)
    ]


def grant_objects(
    bucket: s3.IBucket, grantee: iam.IGrantable, *, actions: Sequence[str], prefix: str = ""
) -> iam.Grant:
    """Grant permission to list the bucket, `actions` on its objects with a prefix, and the use of its KMS key, if any.

    The grants of the CDK use wildcard actions and allow deletion.
    """
    granted = grant(grantee, ["s3:ListBucket"], [bucket.bucket_arn]).combine(
        grant(grantee, actions, [f"{bucket.bucket_arn}/{prefix}*"])
    )
    key = bucket.encryption_key
    if key is None:
        return granted
    # S3 decrypts the parts of a multipart upload to complete it, so writing needs both permissions.
    uses = ["kms:Decrypt", *(["kms:GenerateDataKey"] if "s3:PutObject" in actions else [])]
    return granted.combine(grant(grantee, uses, [key.key_arn]))
