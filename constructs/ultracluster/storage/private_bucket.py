"""Defaults shared by all buckets of a cluster: private, encrypted, TLS only, named by CloudFormation."""

from collections.abc import Sequence

from aws_cdk import RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

__all__ = ["define_bucket", "grant_objects"]

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
    """Define the bucket of a construct, whose default child it becomes.

    Args:
        scope: The construct; the bucket is its child ``Resource``.
        versioned: Whether replaced and removed objects are kept as versions.
        lifecycle_rules: What expires, and when.
        removal_policy: What happens to the bucket when it leaves the stack.
        kms_key: Key that new objects are encrypted with. Default: the keys of S3.
        replication_role: Role that S3 copies new objects with. Default: nothing is copied.
        replication_rules: What is copied, and where to. Default: nothing.
    """
    bucket = s3.Bucket(
        scope,
        "Resource",
        versioned=versioned,
        encryption=s3.BucketEncryption.KMS if kms_key else s3.BucketEncryption.S3_MANAGED,
        encryption_key=kms_key,
        # One request to KMS for many objects; without a key of your own there is none to save.
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


def grant_objects(
    bucket: s3.IBucket, grantee: iam.IGrantable, *, actions: Sequence[str], prefix: str = ""
) -> iam.Grant:
    """Grant listing the bucket, `actions` on its objects, and the use of its key where it has one.

    The CDK's own grants use wildcard actions and allow deleting; ours name each action.

    Args:
        bucket: The bucket.
        grantee: Principal to grant permissions to.
        actions: Actions on objects.
        prefix: Key prefix of the objects, ending in a slash. Default: all objects.
    """
    granted = _grant(grantee, ["s3:ListBucket"], bucket.bucket_arn).combine(
        _grant(grantee, actions, f"{bucket.bucket_arn}/{prefix}*")
    )
    key = bucket.encryption_key
    if key is None:
        return granted
    # A part of a multipart upload is read again with the key, so that writing needs both.
    uses = ["kms:Decrypt", *(["kms:GenerateDataKey"] if "s3:PutObject" in actions else [])]
    return granted.combine(_grant(grantee, uses, key.key_arn))


def _grant(grantee: iam.IGrantable, actions: Sequence[str], resource_arn: str) -> iam.Grant:
    return iam.Grant.add_to_principal(grantee=grantee, actions=list(actions), resource_arns=[resource_arn])
