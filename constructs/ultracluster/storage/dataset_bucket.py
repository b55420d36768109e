"""Training data: what jobs read and never write."""

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from ultracluster.storage.private_bucket import define_bucket, grant_objects
from ultracluster_catalog.lustre.lustre_associations import DataRepositoryAssociation

__all__ = ["DatasetBucket"]

_ABORT_UPLOAD_DAYS = 7
_REPLACED_DAYS = 90


class DatasetBucket(Construct):
    """A versioned, encrypted, private bucket for training data, kept when the stack goes.

    Versioned, so that a run can be repeated on the data that it was trained on.
    """

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
            scope: Where to add it.
            construct_id: Its id there.
            kms_key: Key of your own for new objects. Its policy must let FSx use it where the bucket is joined with
                a file system. Default: the keys of S3.
            noncurrent_version_expiration: When replaced and removed versions go. Default: after 90 days.
            infrequent_access_after: When objects move to the storage class for infrequent access, 30 days or more
                after their upload; each read is paid there. Default: never.
            removal_policy: What happens to it when it leaves the stack. Default: it is kept.
        """
        super().__init__(scope, construct_id)
        transition = infrequent_access_after and s3.Transition(
            storage_class=s3.StorageClass.INFREQUENT_ACCESS, transition_after=infrequent_access_after
        )
        self._bucket: s3.IBucket = define_bucket(
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
    def from_bucket(cls, scope: Construct, construct_id: str, bucket: s3.IBucket) -> "DatasetBucket":
        """Bring an existing bucket, which is used as it is.

        Args:
            scope: Where to add it.
            construct_id: Its id there.
            bucket: The bucket, such as ``s3.Bucket.from_bucket_name`` gives it; with its key, when it has one of its
                own, from ``s3.Bucket.from_bucket_attributes``.
        """
        return _ExistingDatasetBucket(scope, construct_id, bucket)

    @property
    def bucket(self) -> s3.IBucket:
        """The bucket."""
        return self._bucket

    def association(self, file_system_path: str) -> DataRepositoryAssociation:
        """Give the association that shows the data in a folder of a file system; nothing goes back to S3.

        Args:
            file_system_path: The folder, such as ``/datasets``.
        """
        return DataRepositoryAssociation(
            file_system_path=file_system_path,
            data_repository_path=f"s3://{self._bucket.bucket_name}",
            export_events=(),
        )

    def grant_read(self, grantee: iam.IGrantable) -> iam.Grant:
        """Grant listing and reading the data, without writing or deleting it.

        Args:
            grantee: Principal to grant permissions to, such as a job.
        """
        return grant_objects(self._bucket, grantee, actions=["s3:GetObject"])


class _ExistingDatasetBucket(DatasetBucket):
    """What `DatasetBucket.from_bucket` gives."""

    def __init__(self, scope: Construct, construct_id: str, bucket: s3.IBucket) -> None:
        Construct.__init__(self, scope, construct_id)
        self._bucket = bucket
