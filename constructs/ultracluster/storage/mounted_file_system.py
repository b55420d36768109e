"""A file system that nodes of another app mount."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class MountedFileSystem:
    """The file system of an imported queue, of which jobs need its mount point only.

    Attributes:
        mount_path: Mount point on nodes and in jobs, such as ``/fsx``.
    """

    mount_path: str
