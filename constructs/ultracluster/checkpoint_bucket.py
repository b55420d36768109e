"""The bucket that outlives every cluster: checkpoints."""

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from constructs import Construct

from ultracluster.private_bucket import grant_objects, private_bucket

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
        self._bucket = private_bucket(
            self,
            versioned=True,
            lifecycle_rule=s3.LifecycleRule(
                id="replaced-and-removed-versions",
                noncurrent_version_expiration=Duration.days(_NONCURRENT_DAYS),
                abort_incomplete_multipart_upload_after=Duration.days(_ABORT_MULTIPART_DAYS),
            ),
            removal_policy=removal_policy,
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
        return grant_objects(
            self._bucket, grantee, actions=["s3:AbortMultipartUpload", "s3:GetObject", "s3:PutObject"]
        )
