"""Data repository associations: directories on Lustre that are linked to prefixes in S3.

Sources: FSx for Lustre User Guide (data repositories, linking to a bucket, backups; read October 2026) and the
CreateDataRepositoryAssociation model of botocore 1.44.5.
"""

from dataclasses import dataclass
from typing import Final

ASSOCIATION_EVENTS: Final = ("NEW", "CHANGED", "DELETED")
"""Events that an association propagates to the other side."""

DATA_REPOSITORY_ASSOCIATIONS_PER_FILE_SYSTEM: Final = 8
"""Maximum number of data repository associations of a file system."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DataRepositoryAssociation:
    """A directory of a file system that is linked to a bucket or a prefix.

    Deletions are propagated only on request: with ``DELETED`` in `export_events`, an ``rm`` on Lustre also deletes the
    object in S3; in `import_events`, deleting the object deletes the file on Lustre.

    Attributes:
        file_system_path: Directory, such as ``/datasets``. ``/`` requires that it is the only association. Changing it
            replaces the association; the data stays on both sides.
        data_repository_path: Bucket and prefix, such as ``s3://bucket/datasets/``; for a CDK bucket,
            ``bucket.s3_url_for_object("datasets/")``. Changing it replaces the association.
        import_events: Events that are imported from S3, of ``NEW``, ``CHANGED`` and ``DELETED``. Anything but ``()``
            requires a bucket in the Region of the file system. Default: new and changed objects.
        export_events: Events that are exported to S3. Default: new and changed files.
        import_existing: Whether to import the metadata of existing objects. Changing it replaces the association.
            Default: yes.
    """

    file_system_path: str
    data_repository_path: str
    import_events: tuple[str, ...] = ("NEW", "CHANGED")
    export_events: tuple[str, ...] = ("NEW", "CHANGED")
    import_existing: bool = True
