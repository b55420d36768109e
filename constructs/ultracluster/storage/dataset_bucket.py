"""The bucket for training data, which jobs only read."""

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from ultracluster.storage.private_bucket import check_ages, define_bucket, grant_objects
from ultracluster_spec.arguments import validate_arguments
from ultracluster_spec.findings import reject
from ultracluster_spec.lustre import Association

_ABORT_UPLOAD_DAYS = 7
_REPLACED_DAYS = 90


class DatasetBucket(Construct):
    """A versioned, encrypted, private bucket for training data, retained when the stack is deleted.

    Versioning makes it possible to repeat a run on the same data.
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
        infrequent_access_after: Duration | None = None,
        removal_policy: RemovalPolicy = RemovalPolicy.RETAIN,
    ) -> None:
        """Define the bucket.

        Args:
            kms_key: KMS key for new objects. Its policy must allow FSx to use it if the bucket is linked to a file
                system. Default: S3 managed keys.
            noncurrent_version_expiration: When noncurrent versions are deleted. Default: after 90 days.
            infrequent_access_after: When objects move to S3 Standard-IA, 30 days or more after their upload; reads
                are charged there. Default: never.
            removal_policy: Removal policy of the bucket. Default: RETAIN.
        """
        findings = check_ages({"noncurrent_version_expiration": noncurrent_version_expiration})
        findings += check_ages({"infrequent_access_after": infrequent_access_after}, least=30)
        reject(findings)
        super().__init__(scope, construct_id)
        transition = infrequent_access_after and s3.Transition(
            storage_class=s3.StorageClass.INFREQUENT_ACCESS, transition_after=infrequent_access_after
        )
        self.bucket: s3.IBucket = define_bucket(
            self,
            versioned=True,
            lifecycle_rules=[
                s3.LifecycleRule(
                    id="training-data",
                    abort_incomplete_multipart_upload_after=Duration.days(_ABORT_UPLOAD_DAYS),
                    noncurrent_version_expiration=noncurrent_version_expiration
                    or Duration.days(_REPLACED_DAYS),
                    transitions=[transition] if transition else None,
                )
            ],
            removal_policy=removal_policy,
            kms_key=kms_key,
        )

    @classmethod
    @validate_arguments
    def from_bucket(cls, scope: Construct, construct_id: str, bucket: s3.IBucket) -> "DatasetBucket":
        """Import an existing bucket, without changes to it.

        Args:
            bucket: Bucket, for example from ``s3.Bucket.from_bucket_name``, or from ``s3.Bucket.from_bucket_attributes``
                if it has a customer managed key.
        """
        return _ExistingDatasetBucket(scope, construct_id, bucket)

    @validate_arguments
    def association(self, file_system_path: str) -> Association:
        """Return a read-only data repository association that imports the data into a file system path.

        Args:
            file_system_path: Path on the file system, such as ``/datasets``.
        """
        return Association(
            file_system_path=file_system_path,
            data_repository_path=f"s3://{self.bucket.bucket_name}",
            export_events=(),
        )

    @validate_arguments
    def grant_read(self, grantee: iam.IGrantable) -> iam.Grant:
        """Grant permission to list and read the data.

        Args:
            grantee: Principal to grant permissions to, such as a job.
        """
        return grant_objects(self.bucket, grantee, actions=["s3:GetObject"])


class _ExistingDatasetBucket(DatasetBucket):
    """Bucket returned by `DatasetBucket.from_bucket`."""

    @validate_arguments
    def __init__(self, scope: Construct, construct_id: str, bucket: s3.IBucket) -> None:
        Construct.__init__(self, scope, construct_id)
        self.bucket = bucket
