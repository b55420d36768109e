"""The bucket for checkpoints, which outlives every cluster."""

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from ultracluster.storage.private_bucket import check_ages, define_bucket, grant_objects
from ultracluster_spec.arguments import validate_arguments
from ultracluster_spec.findings import reject

_ABORT_UPLOAD_DAYS = 7
_REPLACED_DAYS = 30


class CheckpointBucket(Construct):
    """A versioned, encrypted, private bucket for checkpoints, retained when the stack is deleted.

    Versioning keeps a copy of a checkpoint when a file is deleted on Lustre or overwritten by a restarted job.
    """

    bucket: s3.IBucket
    """Underlying bucket."""

    @validate_arguments
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
            kms_key: KMS key for new objects. Its policy must allow FSx to use it if the bucket is linked to a file
                system, which accesses it with the service-linked role of FSx for S3. Default: S3 managed keys.
            noncurrent_version_expiration: When noncurrent versions are deleted; current versions never are.
                Default: after 30 days.
            removal_policy: Removal policy of the bucket. Default: RETAIN.
        """
        reject(check_ages({"noncurrent_version_expiration": noncurrent_version_expiration}))
        super().__init__(scope, construct_id)
        self.bucket: s3.IBucket = define_bucket(
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
    @validate_arguments
    def from_bucket(cls, scope: Construct, construct_id: str, bucket: s3.IBucket) -> "CheckpointBucket":
        """Import an existing bucket, without changes to it.

        Args:
            bucket: Bucket, for example from ``s3.Bucket.from_bucket_name``, or from ``s3.Bucket.from_bucket_attributes``
                if it has a customer managed key. It should be versioned, because restarted jobs overwrite objects.
        """
        return _ExistingCheckpointBucket(scope, construct_id, bucket)

    @property
    def bucket_name(self) -> str:
        """Name of the bucket."""
        return self.bucket.bucket_name

    @validate_arguments
    def grant_use(self, grantee: iam.IGrantable) -> iam.Grant:
        """Grant permission to list, read and write checkpoints, but not to delete them.

        Args:
            grantee: Principal to grant permissions to, such as a job.
        """
        return grant_objects(
            self.bucket, grantee, actions=["s3:AbortMultipartUpload", "s3:GetObject", "s3:PutObject"]
        )


class _ExistingCheckpointBucket(CheckpointBucket):
    """Bucket returned by `CheckpointBucket.from_bucket`."""

    @validate_arguments
    def __init__(self, scope: Construct, construct_id: str, bucket: s3.IBucket) -> None:
        Construct.__init__(self, scope, construct_id)
        self.bucket = bucket
