"""AMIs for Neuron: the contents of AWS's AMIs, and what a node needs.

A node needs the Neuron driver, the EFA driver, the Lustre client, the ECS agent and Docker, and does not join without
those of the first four that its cluster uses. No AMI of AWS is known to contain all of them. `ultracluster docs images` quotes the
sources, and `NeuronAmi` bakes what is missing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType
from typing import Final, Literal

from ultracluster_catalog.neuron.neuron import ECS_NEURON_AMI_PARAMETER, NEURON_DLAMI_PARAMETERS

__all__ = [
    "BAKED_IMAGE_TAG",
    "DLAMI_ROOT_VOLUME_GB",
    "EFA_INSTALLERS",
    "EFA_INSTALLER_VERSION",
    "IMAGE_KINDS",
    "NODE_PARTS",
    "ImageKind",
    "NeuronImage",
]

ImagePart = Literal["neuron-driver", "efa-driver", "lustre-client", "ecs-agent", "docker", "cloudwatch-agent"]
"""Software that an AMI can contain."""

NODE_PARTS: Final[tuple[ImagePart, ...]] = (
    "neuron-driver",
    "efa-driver",
    "lustre-client",
    "ecs-agent",
    "docker",
)
"""Software that a node needs: EFA for types with EFA, the Lustre client for clusters with a file system."""

DLAMI_ROOT_VOLUME_GB: Final = 512
"""Least root volume of a Neuron Deep Learning AMI on Trainium, in GB.

https://awsdocs-neuron.readthedocs-hosted.com/en/v2.33.0/setup/pytorch/update-dlami.html, 2026-10-16.
"""

BAKED_IMAGE_TAG: Final = "ultracluster:neuron-ami"
"""Tag of the AMIs that a `NeuronAmi` bakes; its value is the name of the `NeuronAmi`."""

EFA_INSTALLERS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "1.49.0": "cf2e9281a2328a243c76f911a490faed43ca0fecfe4733c25e34b2e92a32c309",
        "1.48.0": "f3a8aadc2b94288694a9b9375bcad84a82f0f843e0eefafda7b158b2200549cc",
        "1.47.0": "2df4201e046833c7dc8160907bee7f52b76ff80ed147376a2d0ed8a0dd66b2db",
    }
)
"""Version of the EFA installer to the SHA-256 of its archive.

Source: EC2 User Guide, Verify the EFA installer using a checksum, as of September or October 2026.
"""

EFA_INSTALLER_VERSION: Final = "1.49.0"
"""The newest version of the EFA installer."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ImageKind:
    """A line of AMIs.

    Attributes:
        name: Our name of the line, such as ``ecs-neuron``.
        parameter: SSM public parameter with the ID of the newest AMI. None for custom AMIs.
        operating_system: Such as ``Amazon Linux 2023``; empty if it is not known.
        carries: Software that a source says it contains.
        source: Source of the row.
        dated: Day of that source.
    """

    name: str
    parameter: str | None
    operating_system: str
    carries: frozenset[ImagePart]
    source: str
    dated: date

    @property
    def missing(self) -> tuple[ImagePart, ...]:
        """Software that a node needs and that this line is not known to contain."""
        return tuple(part for part in NODE_PARTS if part not in self.carries)


def _kinds() -> dict[str, ImageKind]:
    rows = [
        ImageKind(
            name="ecs-neuron",
            parameter=ECS_NEURON_AMI_PARAMETER,
            operating_system="Amazon Linux 2023",
            # The build scripts of this AMI install driver, tools and OCI hook of Neuron, but not EFA, Lustre or CloudWatch.
            carries=frozenset({"neuron-driver", "ecs-agent", "docker"}),
            source="build scripts of aws/amazon-ecs-ami",
            dated=date(2026, 8, 21),
        )
    ]
    systems = {"amazon-linux-2023": "Amazon Linux 2023", "ubuntu-24.04": "Ubuntu 24.04"}
    for name, parameter in NEURON_DLAMI_PARAMETERS.items():
        flavour, system = name.split("/")
        # The guide names EFA for the base images only; no source says that one of them has an ECS agent.
        parts: set[ImagePart] = {"neuron-driver", "efa-driver"} if flavour == "base" else {"neuron-driver"}
        rows.append(
            ImageKind(
                name=f"dlami/{name}",
                parameter=parameter,
                operating_system=systems[system],
                carries=frozenset(parts),
                source="Neuron documentation 2.32, Neuron DLAMI User Guide",
                dated=date(2026, 8, 21),
            )
        )
    rows.append(
        ImageKind(
            name="own",
            parameter=None,
            operating_system="",
            carries=frozenset(NODE_PARTS),
            source="its owner says so by using it for nodes",
            dated=date(2026, 11, 21),
        )
    )
    return {row.name: row for row in rows}


IMAGE_KINDS: Final[Mapping[str, ImageKind]] = MappingProxyType(_kinds())
"""Lines of AMIs by name: those of AWS, and ``own``."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NeuronImage:
    """An AMI, pinned by ID, of a line with known contents.

    Attributes:
        kind: Name of the line: a key of `IMAGE_KINDS`.
        image_id: AMI ID in one Region. Never a parameter, which may resolve to another AMI at a later deployment.
    """

    kind: str
    image_id: str

    @property
    def facts(self) -> ImageKind:
        """The line of the AMI."""
        return IMAGE_KINDS[self.kind]
