"""Rules for buckets and the compile cache."""

from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import Final

from ultracluster_rules.findings import Finding, quote
from ultracluster_rules.values import Form

_CACHE_FOLDER: Final = "UC6016"

COMPILER_VERSION: Final = Form(
    code="UC6014",
    pattern=r"[0-9]+\.[0-9]+(?:\.[0-9]+){0,2}",
    allowed='a version of neuronx-cc of two to four numbers in quotes, such as "2.19"',
)
"""Version of the Neuron compiler."""


def check_cache_prefix(prefix: str) -> list[Finding]:
    """Check the key prefix of a compile cache.

    Returns:
        UC6014 if it is empty or has a slash at an end.
    """
    if prefix and prefix == prefix.strip("/"):
        return []
    allowed = "a key prefix without a slash at either end, such as neuron or team-a/neuron"
    return [
        Finding(code=COMPILER_VERSION.code, problem=f"got {quote(prefix)}", allowed=allowed, path="prefix")
    ]


def check_cache_folder(folder: str) -> list[Finding]:
    """Check the folder of a compile cache.

    Returns:
        UC6016 if it is not below the mount path.
    """
    path = PurePosixPath(folder)
    if path.parts and not path.is_absolute() and ".." not in path.parts:
        return []
    allowed = "a folder below the mount path, such as compile-cache"
    return [Finding(code=_CACHE_FOLDER, problem=f"got {quote(folder)}", allowed=allowed, path="folder")]


def refuse_unmounted_cache(folder: str) -> Finding:
    """Return the finding (UC6016) about nodes that do not mount the file system of a compile cache."""
    return Finding(
        code=_CACHE_FOLDER,
        problem=f"the nodes do not mount the file system of {folder}",
        remedy="Mount the file system of the cache on the nodes",
        path="compile_cache",
    )


def check_destinations(names: Sequence[str | None]) -> Iterator[tuple[int, Finding]]:
    """Find buckets that are destinations of one replication twice.

    Args:
        names: Names of the buckets; None if not known.

    Yields:
        Index and UC5140 of each bucket that was named before.
    """
    for index, name in enumerate(names):
        if name is not None and name in names[:index]:
            yield (
                index,
                Finding(
                    code="UC5140", problem=f"{quote(name)} is a duplicate destination", remedy="List it once"
                ),
            )


def check_replication_key(*, has_key: bool, replicated: bool) -> list[Finding]:
    """Check that entries of a compile cache that are replicated are not encrypted with a customer managed key.

    Returns:
        UC5250 if both hold.
    """
    if not (has_key and replicated):
        return []
    return [
        Finding(
            code="UC5250",
            problem="replicated entries would be encrypted with a customer managed key",
            remedy="Remove replicate_to, or the key of the cache or cluster",
        )
    ]
