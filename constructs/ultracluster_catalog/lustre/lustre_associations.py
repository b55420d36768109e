"""Data repository associations: folders on Lustre that are joined with prefixes in S3.

Rules: FSx for Lustre User Guide (data repositories, linking to a bucket, backups; read October 2026) and the
CreateDataRepositoryAssociation model of botocore 1.44.5.
"""

from dataclasses import dataclass
from typing import Final

__all__ = ["ASSOCIATION_EVENTS", "DATA_REPOSITORY_ASSOCIATIONS_PER_FILE_SYSTEM", "DataRepositoryAssociation"]

ASSOCIATION_EVENTS: Final = ("NEW", "CHANGED", "DELETED")
"""What can happen to a file or object that an association carries over to the other side."""

DATA_REPOSITORY_ASSOCIATIONS_PER_FILE_SYSTEM: Final = 8
"""Data repository associations that one file system can have."""


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
