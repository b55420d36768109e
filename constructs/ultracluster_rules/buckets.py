"""Rules for buckets and the compile cache."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import PurePosixPath
from typing import Final

from ultracluster_rules.findings import Finding, quote, require
from ultracluster_rules.record import RuleRecord
from ultracluster_rules.values import Form

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


RECORDS: Final = (
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
)
