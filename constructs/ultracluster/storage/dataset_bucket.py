"""Training data: what jobs read and never write."""

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from ultracluster._foundation.statement import grant
from ultracluster.storage.private_bucket import Lifecycle, PrivateBucket, l2_bucket, use_objects
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
        self._bucket: s3.IBucket | PrivateBucket = PrivateBucket(
            self,
            versioned=True,
            lifecycle=Lifecycle(
                name="training-data",
                abort_upload_after=_ABORT_UPLOAD_DAYS,
                replaced_after=(
                    noncurrent_version_expiration.to_days()
                    if noncurrent_version_expiration
                    else _REPLACED_DAYS
                ),
                infrequent_access_after=infrequent_access_after.to_days()
                if infrequent_access_after
                else None,
            ),
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
        return l2_bucket(self._bucket)

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
        """Let jobs list and read the data; they may neither write nor delete it.

        Args:
            grantee: The role of the jobs.
        """
        return grant(grantee, use_objects(self._bucket, name="Dataset", actions=["s3:GetObject"]))


class _ExistingDatasetBucket(DatasetBucket):
    """What `DatasetBucket.from_bucket` gives."""

    def __init__(self, scope: Construct, construct_id: str, bucket: s3.IBucket) -> None:
        Construct.__init__(self, scope, construct_id)
        self._bucket = bucket
