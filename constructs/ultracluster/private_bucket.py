"""What holds for every bucket of a cluster: private, encrypted, TLS only, named by CloudFormation."""

from aws_cdk import RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from constructs import Construct

__all__ = ["grant_objects", "private_bucket"]


def private_bucket(
    scope: Construct, *, versioned: bool, lifecycle_rule: s3.LifecycleRule, removal_policy: RemovalPolicy
) -> s3.Bucket:
    """Define the bucket of a construct, as its child ``Resource``.

    Args:
        scope: The construct.
        versioned: Whether replaced and removed objects are kept as versions.
        lifecycle_rule: What goes, and when.
        removal_policy: What happens to the bucket when it leaves the stack.
    """
    return s3.Bucket(
        scope,
        "Resource",
        versioned=versioned,
        encryption=s3.BucketEncryption.S3_MANAGED,
        enforce_ssl=True,
        minimum_tls_version=1.2,
        block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
        object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
        removal_policy=removal_policy,
        lifecycle_rules=[lifecycle_rule],
    )


def grant_objects(
    bucket: s3.IBucket, grantee: iam.IGrantable, *, prefix: str = "", actions: list[str]
) -> iam.Grant:
    """Let somebody list the bucket and do `actions` with its objects.

    The CDK's own grants use wildcard actions and allow deleting; ours name each action.

    Args:
        bucket: The bucket.
        grantee: Who may.
        prefix: Key prefix of the objects, ending in a slash. Default: all objects.
        actions: What may be done with an object.
    """
    arn = bucket.bucket_arn
    listing = iam.Grant.add_to_principal(grantee=grantee, actions=["s3:ListBucket"], resource_arns=[arn])
    objects = iam.Grant.add_to_principal(grantee=grantee, actions=actions, resource_arns=[f"{arn}/{prefix}*"])
    return listing.combine(objects)
