"""Nodes of a cluster: their root volume and what they run at first boot."""

from dataclasses import dataclass
from typing import Annotated, Final

from ultracluster_rules.values import Between
from ultracluster_spec.values import Value

ROOT_VOLUME_IOPS: Final = 3_000
"""Operations per second of a root volume, which gp3 has without charge."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RootVolume(Value):
    """The root volume of each node: gp3, encrypted, deleted with the node."""

    # https://docs.aws.amazon.com/ebs/latest/userguide/general-purpose.html, read 2026-11: 1 GiB to 64 TiB; we ask for what an AMI takes.
    size_gib: Annotated[int, Between("UC2252", 30, 65_536, remedy="Use at least the size of the AMI")] = 200
    """Size in GiB, 30 to 65,536, at least that of the AMI; images are unpacked to it. AWS recommends 512 for its Neuron
    AMIs. Changing it replaces the nodes. Default: 200."""

    # The same page: 125 MiB/s are without charge, and each of the 3,000 operations can carry a quarter of a MiB/s.
    throughput: Annotated[int, Between("UC2252", 125, ROOT_VOLUME_IOPS // 4)] = 500
    """Throughput in MiB/s, 125 to 750; pulling images of tens of GB waits for it. Changing it replaces the nodes. Default:
    500."""
