"""The bucket that outlives every cluster: checkpoints."""

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from ultracluster.storage.private_bucket import define_bucket, grant_objects

__all__ = ["CheckpointBucket"]

_ABORT_UPLOAD_DAYS = 7
_REPLACED_DAYS = 30


class CheckpointBucket(Construct):
    """A versioned, encrypted, private bucket for checkpoints, kept when the stack goes.

    Versioned, because a file removed on Lustre or overwritten by a restarted job must not take the only copy
    of a checkpoint with it.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        kms_key: kms.IKey | None = None,
        noncurrent_version_expiration: Duration | None = None,
        removal_policy: RemovalPolicy = RemovalPolicy.RETAIN,
    ) -> None:
        """Define the bucket.

        Args:
            scope: Where to add it.
            construct_id: Its id there.
            kms_key: Key of your own for new objects. Its policy must let FSx use it where the bucket is joined with
                a file system, which reads and writes it by the service-linked role of FSx for S3. Default: the keys
                of S3.
            noncurrent_version_expiration: When replaced and removed versions go; current ones never do.
                Default: after 30 days.
            removal_policy: What happens to it when it leaves the stack. Default: it is kept.
        """
        super().__init__(scope, construct_id)
        self._bucket: s3.IBucket = define_bucket(
            self,
            versioned=True,
            lifecycle_rules=[
                s3.LifecycleRule(
                    id="replaced-and-removed-versions",
                    abort_incomplete_multipart_upload_after=Duration.days(_ABORT_UPLOAD_DAYS),
                    noncurrent_version_expiration=noncurrent_version_expiration
                    or Duration.days(_REPLACED_DAYS),
                )
            ],
            removal_policy=removal_policy,
            kms_key=kms_key,
        )

    @classmethod
    def from_bucket(cls, scope: Construct, construct_id: str, bucket: s3.IBucket) -> "CheckpointBucket":
        """Bring an existing bucket, which is used as it is.

        Args:
            scope: Where to add it.
            construct_id: Its id there.
            bucket: The bucket, such as ``s3.Bucket.from_bucket_name`` gives it; with its key, when it has one of its
                own, from ``s3.Bucket.from_bucket_attributes``. It should keep versions: a restarted job overwrites.
        """
        return _ExistingCheckpointBucket(scope, construct_id, bucket)

    @property
    def bucket(self) -> s3.IBucket:
        """The bucket."""
        return self._bucket

    @property
    def bucket_name(self) -> str:
        """Name of the bucket."""
        return self._bucket.bucket_name

    def grant_use(self, grantee: iam.IGrantable) -> iam.Grant:
        """Grant listing, reading and writing checkpoints, without deleting them.

        Args:
            grantee: Principal to grant permissions to, such as a job.
        """
        return grant_objects(
            self._bucket, grantee, actions=["s3:AbortMultipartUpload", "s3:GetObject", "s3:PutObject"]
        )


class _ExistingCheckpointBucket(CheckpointBucket):
    """What `CheckpointBucket.from_bucket` gives."""

    def __init__(self, scope: Construct, construct_id: str, bucket: s3.IBucket) -> None:
        Construct.__init__(self, scope, construct_id)
        self._bucket = bucket
