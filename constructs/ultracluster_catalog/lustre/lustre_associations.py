"""Data repository associations: directories on Lustre that are linked to prefixes in S3.

Sources: FSx for Lustre User Guide (data repositories, linking to a bucket, backups; read October 2026) and the
CreateDataRepositoryAssociation model of botocore 1.44.5.
"""

from typing import Final

ASSOCIATION_EVENTS: Final = ("NEW", "CHANGED", "DELETED")
"""Events that an association propagates to the other side."""

DATA_REPOSITORY_ASSOCIATIONS_PER_FILE_SYSTEM: Final = 8
"""Maximum number of data repository associations of a file system."""
