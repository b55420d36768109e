"""What holds for every bucket of a cluster: private, encrypted, TLS only, named by CloudFormation."""

from aws_cdk import RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

__all__ = ["grant_objects", "private_bucket"]


def private_bucket(
    scope: Construct,
    *,
    versioned: bool,
    lifecycle_rule: s3.LifecycleRule,
    removal_policy: RemovalPolicy,
    kms_key: kms.IKey | None = None,
    replication_role: iam.IRole | None = None,
    replication_rules: list[s3.ReplicationRule] | None = None,
) -> s3.Bucket:
    """Define the bucket of a construct, as its child ``Resource``.

    Args:
        scope: The construct.
        versioned: Whether replaced and removed objects are kept as versions.
        lifecycle_rule: What goes, and when.
        removal_policy: What happens to the bucket when it leaves the stack.
        kms_key: Key that new objects are encrypted with. Default: the keys of S3.
        replication_role: Role that S3 copies new objects with. Default: nothing is copied.
        replication_rules: What is copied, and where to.
    """
    return s3.Bucket(
        scope,
        "Resource",
        versioned=versioned,
        encryption=s3.BucketEncryption.KMS if kms_key else s3.BucketEncryption.S3_MANAGED,
        encryption_key=kms_key,
        # One request to KMS for many objects; without a key of one's own there is nothing to ask for.
        bucket_key_enabled=True if kms_key else None,
        enforce_ssl=True,
        minimum_tls_version=1.2,
        block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
        object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
        removal_policy=removal_policy,
        lifecycle_rules=[lifecycle_rule],
        replication_role=replication_role,
        replication_rules=replication_rules,
    )


def grant_objects(
    bucket: s3.IBucket, grantee: iam.IGrantable, *, prefix: str = "", actions: list[str]
) -> iam.Grant:
    """Let somebody list the bucket and do `actions` with its objects.

    The CDK's own grants use wildcard actions and allow deleting; ours name each action. Where the bucket has a key
    of its own, they may use it through it.

    Args:
        bucket: The bucket.
        grantee: Who may.
        prefix: Key prefix of the objects, ending in a slash. Default: all objects.
        actions: What may be done with an object.
    """
    arn = bucket.bucket_arn
    listing = iam.Grant.add_to_principal(grantee=grantee, actions=["s3:ListBucket"], resource_arns=[arn])
    objects = iam.Grant.add_to_principal(grantee=grantee, actions=actions, resource_arns=[f"{arn}/{prefix}*"])
    grant = listing.combine(objects)
    if bucket.encryption_key is None:
        return grant
    # A part of a multipart upload is read again with the key, so that writing needs both.
    uses = ["kms:Decrypt", *(["kms:GenerateDataKey"] if "s3:PutObject" in actions else [])]
    return grant.combine(
        iam.Grant.add_to_principal(
            grantee=grantee, actions=uses, resource_arns=[bucket.encryption_key.key_arn]
        )
    )
