"""`checkpoints` and `datasets` of a cluster: its buckets, new ones or existing ones."""

from typing import Annotated

from pydantic import Field

from ultracluster_stacks.config.models.constraints import Between, Form
from ultracluster_stacks.config.models.keys import KeyArn
from ultracluster_stacks.config.models.model import ConfigModel
from ultracluster_stacks.config.models.names import Name

__all__ = ["BucketName", "CheckpointsConfig", "DatasetConfig"]

BucketName = Annotated[
    str,
    Form(
        code="UC5110",
        # Amazon S3 User Guide, "General purpose bucket naming rules", read 2026-11.
        pattern=r"(?!xn--|sthree-|amzn-s3-demo-)(?!.*(?:\.\.|\.-|-\.))(?![0-9]+\.[0-9]+\.[0-9]+\.[0-9]+$)"
        r"(?!.*(?:-s3alias|--ol-s3|\.mrap|--x-s3|--table-s3)$)[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]",
        allowed="the name of a bucket: 3 to 63 lower case letters, digits, dots and hyphens, no dot beside another or a hyphen, no "
        "IP address, and none of the beginnings and ends that S3 keeps for itself",
    ),
]

_NoncurrentDays = Annotated[int, Between(code="UC5111", least=1, most=3_650)]


class CheckpointsConfig(ConfigModel):
    """The bucket of the checkpoints, which outlives the cluster."""

    bucket_name: BucketName | None = Field(
        default=None, description="An existing bucket, used as it is. Default: a new one that is kept."
    )
    kms_key_arn: KeyArn | None = Field(
        default=None,
        description="ARN of the KMS key of the bucket; its policy must let FSx use it. Default: the keys of S3.",
    )
    noncurrent_days: _NoncurrentDays | None = Field(
        default=None,
        description="Days after which replaced and removed versions go from a new bucket. Default: 30.",
    )


class DatasetConfig(ConfigModel):
    """A bucket with training data that jobs may read, and may be shown on the file system."""

    name: Name = Field(description="Name of the dataset, once in a cluster: lower case, digits and hyphens.")
    bucket_name: BucketName | None = Field(
        default=None, description="An existing bucket, used as it is. Default: a new one that is kept."
    )
    kms_key_arn: KeyArn | None = Field(
        default=None,
        description="ARN of the KMS key of the bucket; its policy must let FSx use it. Default: the keys of S3.",
    )
    noncurrent_days: _NoncurrentDays | None = Field(
        default=None,
        description="Days after which replaced and removed versions go from a new bucket. Default: 90.",
    )
    file_system_path: str | None = Field(
        default=None,
        description="Folder of the file system that shows the data, such as /datasets; nothing goes back to S3. "
        "Default: none, jobs read from S3.",
    )
