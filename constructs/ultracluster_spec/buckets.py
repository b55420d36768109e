"""`checkpoints`, `datasets` and `compile_cache` of a cluster: new or existing buckets, and the rules about them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import PurePosixPath
from typing import Annotated, Final

from ultracluster_spec.bounds import Between, Form
from ultracluster_spec.findings import Finding, quote, require
from ultracluster_spec.names import KeyArn, Name
from ultracluster_spec.record import RuleRecord
from ultracluster_spec.values import Value

CACHE_FOLDER: Final = "UC6016"
"""Code of a compile cache on a file system that the nodes do not mount."""
_OLDEST_DAYS: Final = 36_500  # a century; more is a mistake, and keeping objects needs no age

COMPILER_VERSION: Final = Form(
    code="UC6014",
    pattern=r"[0-9]+\.[0-9]+(?:\.[0-9]+){0,2}",
    allowed='a version of neuronx-cc of two to four numbers in quotes, such as "2.19"',
)
"""Version of the Neuron compiler."""


def check_cache_prefix(prefix: str) -> list[Finding]:
    """Check the key prefix of a compile cache (UC6014)."""
    return require(
        prefix and prefix == prefix.strip("/"),
        COMPILER_VERSION.code,
        f"got {quote(prefix)}",
        allowed="a key prefix without a slash at either end, such as neuron or team-a/neuron",
        path="prefix",
    )


def check_cache_folder(folder: str) -> list[Finding]:
    """Check the folder of a compile cache (UC6016)."""
    path = PurePosixPath(folder)
    return require(
        path.parts and not path.is_absolute() and ".." not in path.parts,
        CACHE_FOLDER,
        f"got {quote(folder)}",
        allowed="a folder below the mount path, such as compile-cache",
        path="folder",
    )


def refuse_unmounted_cache(folder: str) -> Finding:
    """Return the finding (UC6016) about nodes that do not mount the file system of a compile cache."""
    return Finding(
        CACHE_FOLDER,
        f"the nodes do not mount the file system of {folder}",
        remedy="Mount the file system of the cache on the nodes",
        path="compile_cache",
    )


def check_destinations(names: Sequence[str | None]) -> Iterator[tuple[int, Finding]]:
    """Find duplicate destinations of a replication by index (UC5140); a name that is not known is None."""
    for index, name in enumerate(names):
        if name is not None and name in names[:index]:
            yield (
                index,
                Finding("UC5140", f"{quote(name)} is a duplicate destination", remedy="List it once"),
            )


def check_age(seconds: float, *, least: int = 1, path: str) -> list[Finding]:
    """Check the age at which a lifecycle rule of S3 acts (UC5143)."""
    days = seconds / timedelta(days=1).total_seconds()
    return require(
        days.is_integer() and least <= days <= _OLDEST_DAYS,
        "UC5143",
        f"got {days:,.6g} days",
        allowed=f"{least} to {_OLDEST_DAYS:,} whole days",
        path=path,
    )


def check_replication_key(*, has_key: bool, replicated: bool) -> list[Finding]:
    """Check that replicated entries of a compile cache have no customer managed key (UC5250)."""
    return require(
        not (has_key and replicated),
        "UC5250",
        "replicated entries would be encrypted with a customer managed key",
        remedy="Remove replicate_to, or the key of the cache or cluster",
    )


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
        "UC5140",
        "A bucket for copies is named once.",
        remedy="Name each bucket once.",
        source="Our decision: a second rule for one destination copies nothing more and is charged by request.",
        example="compile_cache: {versioned: true, replicate_to: [cache-melbourne, cache-mumbai]}",
    ),
    RuleRecord(
        "UC5143",
        "Lifecycle rules of buckets act after whole days.",
        remedy="Specify a number of whole days; leave the argument out to keep objects.",
        source="S3 API, LifecycleExpiration and Transition: Days is a positive whole number, and 30 or more for Standard-IA. The 100 years are our decision.",
        example='CompileCache(stack, "Cache", expire_after=cdk.Duration.days(365))',
    ),
    RuleRecord(
        "UC5250",
        "What S3 copies to another Region is encrypted with the keys of S3.",
        remedy="Omit replicate_to; or omit kms_key_arn of the cluster, and set keys for checkpoints, datasets and file system.",
        source="Amazon S3 user guide, replicating encrypted objects: a customer managed key needs grants in both Regions, which we do not make.",
    ),
    RuleRecord(
        "UC6014",
        "The prefix of a compile cache, and of a compiler in it, is one that compilers write under.",
        remedy="Specify a version of neuronx-cc of two to four numbers, such as 2.19 or 2.19.8089.0; a prefix has no slash at either end.",
        source="Neuron documentation, compile cache, 2026-10: entries lie under neuronxcc-VERSION/MODULE_HASH.",
        example='compile_cache: {expire_compilers: {"2.19": 30}}',
    ),
    RuleRecord(
        "UC6016",
        "A compile cache on a file system lies on one that the nodes of its jobs mount.",
        remedy="Use a folder below the mount path, and mount the file system of the cache on the nodes of the job.",
        source="Our decision: a cache that not all nodes see compiles on each of them while all are paid.",
        example='PosixCompileCache(file_system, folder="cache")',
    ),
    RuleRecord(
        "UC6017",
        "An entry of a compile cache is kept for 1 to 3,650 days, or forever.",
        remedy="Specify 1 to 3,650 days; omit it to keep entries forever.",
        source="Amazon S3 user guide, lifecycle rules: days are positive whole numbers.",
        example="compile_cache: {expire_after_days: 90}",
    ),
)
