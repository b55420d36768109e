"""`checkpoints`, `datasets` and `compile_cache` of a cluster: new or existing buckets."""

from dataclasses import dataclass, field
from typing import Annotated, Final

from ultracluster_rules.buckets import COMPILER_VERSION
from ultracluster_rules.record import RuleRecord
from ultracluster_rules.values import Between, Form
from ultracluster_spec.names import KeyArn, Name
from ultracluster_spec.values import Value

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
_Days = Annotated[int, Between(code="UC6017", least=1, most=3_650)]


@dataclass(frozen=True, kw_only=True, slots=True)
class Checkpoints(Value):
    """The checkpoint bucket, which outlives the cluster."""

    bucket_name: BucketName | None = None
    """Name of an existing bucket, used as it is. Default: a new bucket, retained on deletion."""

    kms_key_arn: KeyArn | None = None
    """ARN of the KMS key of the bucket; its policy must allow FSx to use it. Default: S3 managed keys."""

    noncurrent_days: _NoncurrentDays | None = None
    """Days after which noncurrent versions expire in a new bucket. Default: 30."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Dataset(Value):
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


@dataclass(frozen=True, kw_only=True, slots=True)
class CompileCacheSettings(Value):
    """A bucket for torch-neuronx and JAX, or directories of the file system for TorchNeuron and vLLM."""

    on_file_system: bool = False
    """Whether to use the file system, which TorchNeuron and vLLM require, instead of S3. Default: no."""

    expire_after_days: _Days | None = None
    """Days after which entries of the bucket expire. Default: never."""

    expire_compilers: dict[Annotated[str, COMPILER_VERSION], _Days] = field(default_factory=dict)
    """Days after which entries of retired versions of neuronx-cc expire, such as {"2.19": 30}."""

    versioned: bool = False
    """Whether to keep noncurrent entries for a week, which replication to this bucket requires. Cannot be undone. Default:
    only with `replicate_to`."""

    replicate_to: tuple[BucketName, ...] = ()
    """Buckets of versioned caches in other Regions of the same account to replicate new entries to. Deletions are not
    replicated. Default: none."""

    request_metrics: bool = False
    """Whether S3 counts hits and misses; billed as CloudWatch custom metrics. Default: no."""


RECORDS: Final = (
    RuleRecord(
        "UC5110",
        "A bucket is given by a name that S3 allows.",
        remedy="Specify the name of the bucket without s3:// and without a path: 3 to 63 lower case letters, digits, dots and hyphens.",
        source="Amazon S3 user guide, bucket naming rules.",
        example="checkpoints: {bucket_name: our-checkpoints}",
    ),
    RuleRecord(
        "UC5111",
        "Versions that were replaced are kept for 1 to 3,650 days.",
        remedy="Specify 1 to 3,650 days, during which an overwritten checkpoint can be restored.",
        source="Our decision: 0 would lose what a wrong command overwrites; ten years are for ever.",
        example="checkpoints: {noncurrent_days: 30}",
    ),
    RuleRecord(
        "UC6017",
        "An entry of a compile cache is kept for 1 to 3,650 days, or forever.",
        remedy="Specify 1 to 3,650 days; omit it to keep entries forever.",
        source="Amazon S3 user guide, lifecycle rules: days are positive whole numbers.",
        example="compile_cache: {expire_after_days: 90}",
    ),
)
