"""What AMIs and user data put on nodes, as far as it was seeded; see `ultracluster_local.jobs`."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ultracluster_local.instance.state import region_state

__all__ = ["NodeImage", "node_images"]


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeImage:
    """What an AMI and the user data put on a node.

    Attributes:
        files: Texts of files by absolute path.
        shared: Path at which the file system is mounted; empty if none is.
    """

    files: Mapping[str, str] = field(default_factory=dict)
    shared: str = ""


def node_images(region: str) -> dict[str, NodeImage]:
    """Return the contents of AMIs by ID."""
    return region_state("jobs:images", region=region, new=dict[str, NodeImage])
