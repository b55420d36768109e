"""Scratch: the instance-store disks of a node as one file system, lost with the node."""

import posixpath
import re
from typing import Final

from ultracluster_catalog.machines.instance_type import InstanceType
from ultracluster_rules.findings import Finding, quote

__all__ = ["check_scratch"]

_PATH: Final = r"(?:/[A-Za-z0-9._-]+)+"

# What an operating system keeps here would be hidden by a mount.
_SYSTEM: Final = (
    *("/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/lib64", "/opt", "/proc", "/root", "/run", "/sbin"),
    *("/sys", "/tmp", "/usr", "/var"),  # noqa: S108 - refused, not used
)
_INSIDE: Final = ("/mnt", "/media", "/srv")


def check_scratch(
    instance_type: InstanceType, path: str | None, *, mount_path: str | None = None
) -> list[Finding]:
    """Find out whether a node can have scratch at a path.

    Args:
        instance_type: Type of the nodes.
        path: Where scratch is mounted, on the node and in its containers. None asks for none.
        mount_path: Where the shared file system is mounted. Default: there is none.

    Returns:
        UC4026 when the type has no instance-store disks, UC4027 when something else is at the path.
    """
    if path is None:
        return []
    findings = []
    if not instance_type.nvme_count:
        findings.append(
            Finding(
                code="UC4026",
                problem=f"{instance_type.name} has no instance-store disks",
                remedy="Leave scratch_path out, or choose a type with disks, such as trn1.32xlarge or trn2.48xlarge",
                path="scratch_path",
            )
        )
    taken = [each for each in (*_SYSTEM, mount_path) if each and _overlap(path, each)]
    if not re.fullmatch(_PATH, path) or posixpath.normpath(path) != path or path in _INSIDE or taken:
        findings.append(
            Finding(
                code="UC4027",
                problem=f"got {quote(path)}" + (f", where {taken[0]} is" if taken else ""),
                allowed="an absolute path of its own, such as /scratch",
                path="scratch_path",
            )
        )
    return findings


def _overlap(first: str, second: str) -> bool:
    return f"{first}/".startswith(f"{second}/") or f"{second}/".startswith(f"{first}/")
