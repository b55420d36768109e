"""`checkpoints` and `datasets` of a cluster: new or existing buckets."""

from typing import Annotated

from ultracluster_stacks.config.models.constraints import Between, Form
from ultracluster_stacks.config.models.model import ConfigModel
from ultracluster_stacks.config.models.names import KeyArn, Name

BucketName = Annotated[
    str,
    Form(
        code="UC5110",
        # Amazon S3 User Guide, "General purpose bucket naming rules", read 2026-11.
        pattern=r"(?!xn--|sthree-|amzn-s3-demo-)(?!.*(?:\.\.|\.-|-\.))(?![0-9]+\.[0-9]+\.[0-9]+\.[0-9]+$)"
        r"(?!.*(?:-s3alias|--ol-s3|\.mrap|--x-s3|--table-s3)$)[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]",
        allowed="the name of a bucket: 3 to 63 lower case letters, digits, dots and hyphens, no dot next to another dot or a "
        "hyphen, no IP address, and no prefix or suffix that S3 reserves",
    ),
]

_NoncurrentDays = Annotated[int, Between(code="UC5111", least=1, most=3_650)]


class CheckpointsConfig(ConfigModel):
    """The checkpoint bucket, which outlives the cluster."""

    bucket_name: BucketName | None = None
    """Name of an existing bucket, used as it is. Default: a new bucket, retained on deletion."""

    kms_key_arn: KeyArn | None = None
    """ARN of the KMS key of the bucket; its policy must allow FSx to use it. Default: S3 managed keys."""

    noncurrent_days: _NoncurrentDays | None = None
    """Days after which noncurrent versions expire in a new bucket. Default: 30."""


class DatasetConfig(ConfigModel):
    """A bucket with training data that jobs can read, optionally linked to the file system."""

    name: Name
    """Name of the dataset, unique in the cluster: lower case letters, digits and hyphens."""

    bucket_name: BucketName | None = None
    """Name of an existing bucket, used as it is. Default: a new bucket, retained on deletion."""

    kms_key_arn: KeyArn | None = None
    """ARN of the KMS key of the bucket; its policy must allow FSx to use it. Default: S3 managed keys."""

    noncurrent_days: _NoncurrentDays | None = None
    """Days after which noncurrent versions expire in a new bucket. Default: 90."""

    file_system_path: str | None = None
    """Directory of the file system linked to the bucket, such as /datasets; nothing is exported to S3. Default: not linked;
    jobs read from S3."""
