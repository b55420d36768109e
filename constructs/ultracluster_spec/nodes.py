"""Nodes of a cluster: what a rollout file cannot set."""

from typing import Final

ROOT_VOLUME_GIB: Final = 200
"""Size of the root volume of a node in GiB, unless a construct sets another."""

# gp3's default of 125 MiB/s would double the billed time for pulling images of tens of GB.
ROOT_VOLUME_MIB_PER_SECOND: Final = 500
"""Throughput of the root volume of a node."""
