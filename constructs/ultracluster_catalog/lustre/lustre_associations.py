"""Data repository associations: folders on Lustre that are joined with prefixes in S3.

Rules: FSx for Lustre User Guide (data repositories, linking to a bucket, backups; read October 2026) and the
CreateDataRepositoryAssociation model of botocore 1.44.5.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from ultracluster_catalog.lustre.lustre import INTELLIGENT_TIERING, LustreSettings
from ultracluster_rules.findings import Finding, quote

__all__ = [
    "ASSOCIATION_EVENTS",
    "DATA_REPOSITORY_ASSOCIATIONS_PER_FILE_SYSTEM",
    "DataRepositoryAssociation",
    "check_associations",
]

ASSOCIATION_EVENTS: Final = ("NEW", "CHANGED", "DELETED")
"""What can happen to a file or object that an association carries over to the other side."""

DATA_REPOSITORY_ASSOCIATIONS_PER_FILE_SYSTEM: Final = 8
"""Data repository associations that one file system can have."""

_FOLDER: Final = r"/|(?:/[^/\x00\r\n\x85\u2028\u2029]+)+/?"
_LONGEST_FOLDER: Final = 4096
_S3_PATH: Final = r"s3://[^/\s]+(?:/[^\x00\r\n\x85\u2028\u2029]*)?"
_LONGEST_S3_PATH: Final = 4357


@dataclass(frozen=True, kw_only=True, slots=True)
class DataRepositoryAssociation:
    """A folder of a file system that is joined with a bucket, or with a prefix of one.

    No event is named ``DELETED`` unless you name it: with it in `export_events`, an ``rm`` on Lustre deletes the
    object in S3 as well, and in `import_events` the file on Lustre goes with the object.

    Attributes:
        file_system_path: The folder, such as ``/datasets``. ``/`` is for the one association of a file system.
            Changing it replaces the association; the data stays on both sides.
        data_repository_path: The bucket and prefix, such as ``s3://bucket/datasets/``; of a CDK bucket,
            ``bucket.s3_url_for_object("datasets/")``. Changing it replaces the association.
        import_events: What is carried from S3 to Lustre by itself, of ``NEW``, ``CHANGED`` and ``DELETED``. Anything
            but ``()`` needs a bucket in the Region of the file system. Default: new and changed objects.
        export_events: What is carried from Lustre to S3 by itself. Default: new and changed files.
        import_existing: Whether the objects that are there at the start are listed on Lustre. Changing it replaces
            the association. Default: they are.
    """

    file_system_path: str
    data_repository_path: str
    import_events: tuple[str, ...] = ("NEW", "CHANGED")
    export_events: tuple[str, ...] = ("NEW", "CHANGED")
    import_existing: bool = True


def check_associations(
    associations: Sequence[DataRepositoryAssociation], *, settings: LustreSettings, path: str = "associations"
) -> list[Finding]:
    """Find what CreateDataRepositoryAssociation would refuse.

    Args:
        associations: All associations of one file system.
        settings: The file system.
        path: How the caller calls the associations. Default: ``associations``.

    Returns:
        All problems; empty for associations that can be made.
    """
    if not associations:
        return []
    findings = list(_check_whole(associations, settings, path))
    for index, association in enumerate(associations):
        findings += _check_one(association, f"{path}[{index}]")
    findings += _overlaps(
        [_folder(each) for each in associations], code="UC5023", path=path, name="file_system_path"
    )
    findings += _overlaps(
        [_prefix(each) for each in associations], code="UC5024", path=path, name="data_repository_path"
    )
    return findings


def _check_whole(
    associations: Sequence[DataRepositoryAssociation], settings: LustreSettings, path: str
) -> Iterator[Finding]:
    for refuses, what in (
        (settings.deployment_type == "SCRATCH_1", "SCRATCH_1"),
        (settings.storage_type == INTELLIGENT_TIERING, "Intelligent-Tiering"),
        (settings.file_system_type_version == "2.10", "Lustre 2.10"),
    ):
        if refuses:
            yield Finding(
                code="UC5020",
                path=path,
                problem=f"got {len(associations)} with {what}, which cannot be linked to S3",
                remedy="Leave them out, or use PERSISTENT_2 or SCRATCH_2 on SSD",
            )
    for name, asked in (
        ("backup_retention_days", settings.backup_retention_days > 0),
        ("copy_tags_to_backups", settings.copy_tags_to_backups),
    ):
        if asked:
            yield Finding(
                code="UC5014",
                path=name,
                problem=f"got {quote(getattr(settings, name))} for a file system that is linked to S3, of which FSx "
                "takes no backups",
                remedy="Leave it out: S3 holds the data; or link nothing",
            )
    if len(associations) > DATA_REPOSITORY_ASSOCIATIONS_PER_FILE_SYSTEM:
        yield Finding(
            code="UC5021",
            path=path,
            problem=f"got {len(associations)} associations",
            allowed=f"at most {DATA_REPOSITORY_ASSOCIATIONS_PER_FILE_SYSTEM} on one file system",
        )


def _check_one(association: DataRepositoryAssociation, path: str) -> Iterator[Finding]:
    folder, prefix = association.file_system_path, association.data_repository_path
    parts = folder.split("/")
    if not re.fullmatch(_FOLDER, folder) or {".", ".."} & {*parts} or len(folder) > _LONGEST_FOLDER:
        yield Finding(
            code="UC5022",
            path=f"{path}.file_system_path",
            problem=f"got {quote(folder)}",
            allowed="a folder from the root of the file system, such as /datasets",
        )
    if not re.fullmatch(_S3_PATH, prefix) or len(prefix) > _LONGEST_S3_PATH:
        yield Finding(
            code="UC5025",
            path=f"{path}.data_repository_path",
            problem=f"got {quote(prefix)}",
            allowed="s3://BUCKET or s3://BUCKET/PREFIX/",
        )
    for name in ("import_events", "export_events"):
        events: tuple[str, ...] = getattr(association, name)
        if not {*events} <= {*ASSOCIATION_EVENTS} or len({*events}) < len(events):
            yield Finding(
                code="UC5026",
                path=f"{path}.{name}",
                problem=f"got {quote(events)}",
                allowed="NEW, CHANGED and DELETED, each at most once",
            )


def _folder(association: DataRepositoryAssociation) -> str:
    return association.file_system_path.rstrip("/") + "/"


def _prefix(association: DataRepositoryAssociation) -> str:
    return association.data_repository_path.rstrip("/") + "/"


def _overlaps(places: Sequence[str], *, code: str, path: str, name: str) -> Iterator[Finding]:
    for (first, one), (second, other) in combinations(enumerate(places), 2):
        if one.startswith(other) or other.startswith(one):
            yield Finding(
                code=code,
                path=f"{path}[{second}].{name}",
                problem=f"{quote(other)} and {quote(one)} of {path}[{first}] overlap",
                remedy="Join places that do not contain each other",
            )
