"""What holds for every bucket of a cluster: private, encrypted, TLS only, named by CloudFormation."""

from aws_cdk import RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from ultracluster.statement import Statement

__all__ = ["private_bucket", "use_objects"]


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


def use_objects(bucket: s3.IBucket, *, name: str, prefix: str = "", actions: list[str]) -> list[Statement]:
    """Give the statements that let somebody list the bucket and do `actions` with its objects.

    The CDK's own grants use wildcard actions and allow deleting; ours name each action. Where the bucket has a key
    of its own, they may use it through it.

    Args:
        bucket: The bucket.
        name: What the statements call it.
        prefix: Key prefix of the objects, ending in a slash. Default: all objects.
        actions: What may be done with an object.
    """
    arn, key = bucket.bucket_arn, bucket.encryption_key
    statements = [
        Statement(["s3:ListBucket"], [arn], sid=f"List{name}"),
        Statement(actions, [f"{arn}/{prefix}*"], sid=f"Use{name}"),
    ]
    if key is None:
        return statements
    # A part of a multipart upload is read again with the key, so that writing needs both.
    uses = ["kms:Decrypt", *(["kms:GenerateDataKey"] if "s3:PutObject" in actions else [])]
    return [*statements, Statement(uses, [key.key_arn], sid=f"KeyOf{name}")]
