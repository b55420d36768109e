"""The bucket that outlives every cluster: checkpoints."""

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from constructs import Construct

__all__ = ["CheckpointBucket"]

_NONCURRENT_DAYS = 30
_ABORT_MULTIPART_DAYS = 7


class CheckpointBucket(Construct):
    """A versioned, encrypted, private bucket for checkpoints, kept when the stack goes.

    Versioned, because a file removed on Lustre or overwritten by a restarted job must not take the only copy
    of a checkpoint with it.
    """

    def __init__(
        self, scope: Construct, construct_id: str, *, removal_policy: RemovalPolicy = RemovalPolicy.RETAIN
    ) -> None:
        """Define the bucket.

        Args:
            scope: Where to add it.
            construct_id: Its id there.
            removal_policy: What happens to it when it leaves the stack. Default: it is kept.
        """
        super().__init__(scope, construct_id)
        self._bucket = s3.Bucket(
            self,
            "Resource",
            versioned=True,
            encryption=s3.BucketEncryption.S3_MANAGED,
            enforce_ssl=True,
            minimum_tls_version=1.2,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            removal_policy=removal_policy,
            lifecycle_rules=[
                s3.LifecycleRule(
                    id="replaced-and-removed-versions",
                    noncurrent_version_expiration=Duration.days(_NONCURRENT_DAYS),
                    abort_incomplete_multipart_upload_after=Duration.days(_ABORT_MULTIPART_DAYS),
                )
            ],
        )

    @property
    def bucket(self) -> s3.IBucket:
        """The bucket."""
        return self._bucket

    def grant_use(self, grantee: iam.IGrantable) -> iam.Grant:
        """Let jobs list, read and write checkpoints; nobody may delete them.

        Args:
            grantee: The role of the jobs.
        """
        arn = self._bucket.bucket_arn
        return iam.Grant.add_to_principal(
            grantee=grantee, actions=["s3:ListBucket"], resource_arns=[arn]
        ).combine(
            iam.Grant.add_to_principal(
                grantee=grantee,
                actions=["s3:AbortMultipartUpload", "s3:GetObject", "s3:PutObject"],
                resource_arns=[f"{arn}/*"],
            )
        )
