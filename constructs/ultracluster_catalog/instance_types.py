"""Accelerated EC2 instance types: chips, network cards, memory, storage and how they can be bought.

The figures come from EC2's own DescribeInstanceTypes, except where that API is wrong or silent; such a row says
so in `InstanceType.notes`. A unit test holds every field against the copy of that API's answer that moto ships.
"""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType
from typing import Final, Literal

from ultracluster_catalog.findings import Finding, FindingsError, quote

__all__ = [
    "CAPACITY_BLOCK",
    "INSTANCE_TYPES",
    "ON_DEMAND",
    "SPOT",
    "InstanceType",
    "NetworkCard",
    "get_instance_type",
]

ON_DEMAND: Final = "on-demand"
SPOT: Final = "spot"
CAPACITY_BLOCK: Final = "capacity-block"

# A container never gets the whole memory: the kernel, the ECS agent and Batch keep some. Measured only for
# trn1.32xlarge (507,821 of 524,288 MiB, pytorch/torchx issue 795); elsewhere this share is what torchx assumes.
_CONTAINER_MEMORY_SHARE: Final = 0.96

_CLOSE: Final = 0.85  # a slip of a finger, not another machine: g5.xlarge is no hint at p5.4xlarge


@dataclass(frozen=True, kw_only=True, slots=True)
class NetworkCard:
    """One network card of an instance type.

    Attributes:
        index: The NetworkCardIndex, from 0.
        max_interfaces: How many network interfaces can be attached; device indexes run from 0 to one less.
        efa: Whether the card takes an `efa` or `efa-only` interface. A card takes one at most.
        gbps: Peak bandwidth in Gbit/s.
    """

    index: int
    max_interfaces: int
    efa: bool
    gbps: float


@dataclass(frozen=True, kw_only=True, slots=True)
class InstanceType:
    """What a construct, the command line or a person needs to know about one instance type.

    Attributes:
        name: The API name, such as ``trn2.48xlarge``.
        vcpus: vCPUs with the default core options; also what one instance takes of a vCPU quota.
        memory_mib: Memory of the instance in MiB.
        accelerator: Name of the chip, such as ``Trainium2``.
        chips: Chips in one instance.
        device_memory_gib: Memory of one chip in GiB.
        neuron_cores: Physical NeuronCores of the whole instance; 0 for GPUs.
        logical_neuron_cores: NeuronCores that software sees with the default logical NeuronCore configuration
            (2 on Trainium2, 1 before), for the whole instance; 0 for GPUs.
        network_cards: The network cards in order of their index.
        efa_interfaces: How many EFA or EFA-only interfaces can be attached in all; 0 where EFA is unsupported.
        ipv4_per_interface: IPv4 addresses that one interface can hold.
        network_gbps: Peak network bandwidth of the instance in Gbit/s.
        nvme_count: Instance-store disks.
        nvme_gb: Size of one of these disks in GB (10^9 bytes); 0 without disks.
        purchase_options: Any of ``on-demand``, ``spot`` and ``capacity-block``: the usage classes that EC2 lists.
            Where each is sold is another question: see `ultracluster_catalog.capacity_blocks` and `zones`.
        ultraserver_type: The UltraServer that instances of this type are part of. None outside UltraServers.
        instances_per_ultraserver: Instances that make one UltraServer; 1 outside UltraServers.
        container_memory_mib: What one container that has the instance to itself may ask for, in MiB.
        container_memory_source: Whether that figure was ``measured`` or is an ``estimate``.
        efa_generation: Generation of EFA. None where EFA is unsupported.
        nitro_generation: Generation of the Nitro System.
        source: Where the figures come from.
        dated: The day of the newest evidence.
        notes: Contradictions between sources and how they were resolved. Default: none known.
    """

    name: str
    vcpus: int
    memory_mib: int
    accelerator: str
    chips: int
    device_memory_gib: float
    neuron_cores: int
    logical_neuron_cores: int
    network_cards: tuple[NetworkCard, ...]
    efa_interfaces: int
    ipv4_per_interface: int
    network_gbps: float
    nvme_count: int
    nvme_gb: int
    purchase_options: frozenset[str]
    ultraserver_type: str | None
    instances_per_ultraserver: int
    container_memory_mib: int
    container_memory_source: Literal["measured", "estimate"]
    efa_generation: int | None
    nitro_generation: int
    source: str
    dated: date
    notes: str = ""

    @property
    def is_trainium(self) -> bool:
        """Whether the chips are Trainium of any generation."""
        return self.accelerator.startswith("Trainium")

    @property
    def is_neuron(self) -> bool:
        """Whether the chips are programmed with the Neuron SDK: Trainium and Inferentia."""
        return self.neuron_cores > 0

    @property
    def neuron_devices(self) -> tuple[str, ...]:
        """Device files of the chips, ``/dev/neuron0`` onwards; empty for GPUs."""
        return tuple(f"/dev/neuron{index}" for index in range(self.chips if self.is_neuron else 0))

    @property
    def efa_devices(self) -> tuple[str, ...]:
        """Device files of the EFA interfaces, ``/dev/infiniband/uverbs0`` onwards, when all are attached."""
        return tuple(f"/dev/infiniband/uverbs{index}" for index in range(self.efa_interfaces))


def _cards(
    count: int, *, max_interfaces: int, gbps: float, efa: bool = True, first: int = 0
) -> tuple[NetworkCard, ...]:
    return tuple(
        NetworkCard(index=index, max_interfaces=max_interfaces, efa=efa, gbps=gbps)
        for index in range(first, first + count)
    )


def _instance_type(
    name: str,
    *,
    vcpus: int,
    memory_gib: int,
    chips: tuple[int, str, float],
    cards: tuple[NetworkCard, ...],
    ipv4: int,
    gbps: float,
    nitro: int,
    sold: tuple[str, ...],
    nvme: tuple[int, int] = (0, 0),
    cores_per_chip: int = 0,
    logical_nc_config: int = 1,
    efa_generation: int | None = None,
    ultraserver: tuple[str | None, int] = (None, 1),
    measured_container_memory_mib: int | None = None,
    notes: str = "",
) -> InstanceType:
    """Build a row from what differs between types; everything else follows from it."""
    count, accelerator, device_memory_gib = chips
    memory_mib = memory_gib * 1024
    estimate = int(memory_mib * _CONTAINER_MEMORY_SHARE)
    return InstanceType(
        name=name,
        vcpus=vcpus,
        memory_mib=memory_mib,
        accelerator=accelerator,
        chips=count,
        device_memory_gib=device_memory_gib,
        neuron_cores=count * cores_per_chip,
        logical_neuron_cores=count * cores_per_chip // logical_nc_config,
        network_cards=cards,
        efa_interfaces=sum(card.efa for card in cards),
        ipv4_per_interface=ipv4,
        network_gbps=gbps,
        nvme_count=nvme[0],
        nvme_gb=nvme[1],
        purchase_options=frozenset(sold),
        ultraserver_type=ultraserver[0],
        instances_per_ultraserver=ultraserver[1],
        container_memory_mib=measured_container_memory_mib or estimate,
        container_memory_source="measured" if measured_container_memory_mib else "estimate",
        efa_generation=efa_generation,
        nitro_generation=nitro,
        source=_SOURCE,
        dated=_DATED,
        notes=notes,
    )


_SOURCE: Final = (
    "EC2 DescribeInstanceTypes (copy in moto 5.2.5), EC2 User Guide (EFA, network cards), EC2 instance types guide "
    "(Nitro generations), Neuron documentation 2.32 (Trainium architecture)"
)
_DATED: Final = date(2026, 8, 21)

_EVERY_OPTION: Final = (ON_DEMAND, SPOT, CAPACITY_BLOCK)
_NO_BLOCK: Final = (ON_DEMAND, SPOT)

_TRN2_NOTES: Final = (
    "Device memory: DescribeInstanceTypes says 512 GiB per chip; the Neuron documentation and field measurements "
    "say 96. EC2 lists the usage class on-demand, but no on-demand price is published: plan with a Capacity Block."
)

_ROWS: Final = (
    _instance_type(
        "trn1.2xlarge",
        vcpus=8,
        memory_gib=32,
        chips=(1, "Trainium", 32),
        cores_per_chip=2,
        cards=_cards(1, max_interfaces=4, gbps=12.5, efa=False),
        ipv4=15,
        gbps=12.5,
        nvme=(1, 474),
        sold=_NO_BLOCK,
        nitro=4,
    ),
    _instance_type(
        "trn1.32xlarge",
        vcpus=128,
        memory_gib=512,
        chips=(16, "Trainium", 32),
        cores_per_chip=2,
        cards=_cards(8, max_interfaces=5, gbps=100),
        ipv4=50,
        gbps=800,
        nvme=(4, 1900),
        sold=_EVERY_OPTION,
        efa_generation=2,
        nitro=4,
        measured_container_memory_mib=507_821,
    ),
    _instance_type(
        "trn1n.32xlarge",
        vcpus=128,
        memory_gib=512,
        chips=(16, "Trainium", 32),
        cores_per_chip=2,
        cards=_cards(16, max_interfaces=5, gbps=100),
        ipv4=50,
        gbps=1600,
        nvme=(4, 1900),
        sold=_NO_BLOCK,
        efa_generation=2,
        nitro=4,
    ),
    _instance_type(
        "trn2.3xlarge",
        vcpus=12,
        memory_gib=128,
        chips=(1, "Trainium2", 96),
        cores_per_chip=8,
        logical_nc_config=2,
        cards=_cards(1, max_interfaces=2, gbps=50),
        ipv4=15,
        gbps=50,
        nvme=(1, 470),
        sold=_EVERY_OPTION,
        efa_generation=3,
        nitro=5,
        notes=_TRN2_NOTES
        + " Bandwidth: DescribeInstanceTypes says 50 Gbps for its only network card and 200 for the instance; "
        "the lower figure is used, so that nothing is promised that the card may not hold.",
    ),
    _instance_type(
        "trn2.48xlarge",
        vcpus=192,
        memory_gib=2048,
        chips=(16, "Trainium2", 96),
        cores_per_chip=8,
        logical_nc_config=2,
        cards=_cards(16, max_interfaces=2, gbps=200),
        ipv4=50,
        gbps=3200,
        nvme=(4, 1900),
        sold=_EVERY_OPTION,
        efa_generation=3,
        nitro=5,
        notes=_TRN2_NOTES,
    ),
    _instance_type(
        "trn2u.48xlarge",
        vcpus=192,
        memory_gib=2048,
        chips=(16, "Trainium2", 96),
        cores_per_chip=8,
        logical_nc_config=2,
        cards=_cards(16, max_interfaces=2, gbps=200),
        ipv4=50,
        gbps=3200,
        nvme=(4, 1900),
        sold=(ON_DEMAND, CAPACITY_BLOCK),
        efa_generation=3,
        nitro=5,
        ultraserver=("u-trn2x64", 4),
        notes="Chips: DescribeInstanceTypes lists none; the Neuron documentation says 16, as in trn2.48xlarge. "
        "A Capacity Block is bought by UltraServer type and count: field reports of 2026-10-03 show that the "
        "instance type is refused. No on-demand price is published.",
    ),
    _instance_type(
        "inf2.xlarge",
        vcpus=4,
        memory_gib=16,
        chips=(1, "Inferentia2", 32),
        cores_per_chip=2,
        cards=_cards(1, max_interfaces=4, gbps=15, efa=False),
        ipv4=15,
        gbps=15,
        sold=_NO_BLOCK,
        nitro=4,
    ),
    _instance_type(
        "inf2.8xlarge",
        vcpus=32,
        memory_gib=128,
        chips=(1, "Inferentia2", 32),
        cores_per_chip=2,
        cards=_cards(1, max_interfaces=8, gbps=25, efa=False),
        ipv4=30,
        gbps=25,
        sold=_NO_BLOCK,
        nitro=4,
    ),
    _instance_type(
        "inf2.24xlarge",
        vcpus=96,
        memory_gib=384,
        chips=(6, "Inferentia2", 32),
        cores_per_chip=2,
        cards=_cards(1, max_interfaces=15, gbps=50, efa=False),
        ipv4=50,
        gbps=50,
        sold=_NO_BLOCK,
        nitro=4,
    ),
    _instance_type(
        "inf2.48xlarge",
        vcpus=192,
        memory_gib=768,
        chips=(12, "Inferentia2", 32),
        cores_per_chip=2,
        cards=_cards(1, max_interfaces=15, gbps=100, efa=False),
        ipv4=50,
        gbps=100,
        sold=_NO_BLOCK,
        nitro=4,
    ),
    _instance_type(
        "p4d.24xlarge",
        vcpus=96,
        memory_gib=1152,
        chips=(8, "A100", 40),
        cards=_cards(4, max_interfaces=15, gbps=100),
        ipv4=50,
        gbps=400,
        nvme=(8, 1000),
        sold=_EVERY_OPTION,
        efa_generation=1,
        nitro=3,
    ),
    _instance_type(
        "p4de.24xlarge",
        vcpus=96,
        memory_gib=1152,
        chips=(8, "A100", 80),
        cards=_cards(4, max_interfaces=15, gbps=100),
        ipv4=50,
        gbps=400,
        nvme=(8, 1000),
        sold=_EVERY_OPTION,
        efa_generation=1,
        nitro=3,
    ),
    _instance_type(
        "p5.4xlarge",
        vcpus=16,
        memory_gib=256,
        chips=(1, "H100", 80),
        cards=_cards(1, max_interfaces=4, gbps=100),
        ipv4=30,
        gbps=100,
        nvme=(1, 3800),
        sold=_EVERY_OPTION,
        efa_generation=2,
        nitro=4,
    ),
    _instance_type(
        "p5.48xlarge",
        vcpus=192,
        memory_gib=2048,
        chips=(8, "H100", 80),
        cards=_cards(32, max_interfaces=2, gbps=100),
        ipv4=50,
        gbps=3200,
        nvme=(8, 3800),
        sold=_EVERY_OPTION,
        efa_generation=2,
        nitro=4,
    ),
    _instance_type(
        "p5e.48xlarge",
        vcpus=192,
        memory_gib=2048,
        chips=(8, "H200", 141),
        cards=_cards(32, max_interfaces=2, gbps=100),
        ipv4=50,
        gbps=3200,
        nvme=(8, 3800),
        sold=_EVERY_OPTION,
        efa_generation=2,
        nitro=4,
    ),
    _instance_type(
        "p5en.48xlarge",
        vcpus=192,
        memory_gib=2048,
        chips=(8, "H200", 141),
        cards=_cards(16, max_interfaces=4, gbps=200),
        ipv4=50,
        gbps=3200,
        nvme=(8, 3800),
        sold=_EVERY_OPTION,
        efa_generation=3,
        nitro=5,
    ),
    _instance_type(
        "p6-b200.48xlarge",
        vcpus=192,
        memory_gib=2048,
        chips=(8, "B200", 179.06),
        cards=_cards(8, max_interfaces=4, gbps=400),
        ipv4=50,
        gbps=3200,
        nvme=(8, 3800),
        sold=_EVERY_OPTION,
        efa_generation=4,
        nitro=6,
        notes="Bandwidth of a card: DescribeInstanceTypes says 200 Gbps (what ENA reaches); the EC2 User Guide says "
        "400 for EFA, which alone adds up to the 3,200 of the instance.",
    ),
    _instance_type(
        "p6-b300.48xlarge",
        vcpus=192,
        memory_gib=4096,
        chips=(8, "B300", 268.59),
        cards=_cards(1, max_interfaces=4, gbps=350, efa=False)
        + _cards(16, max_interfaces=4, gbps=400, first=1),
        ipv4=50,
        gbps=6400,
        nvme=(8, 3800),
        sold=_EVERY_OPTION,
        efa_generation=4,
        nitro=6,
        notes="Network card 0 takes no EFA; its 350 Gbps come on top of the 6,400 of the instance.",
    ),
)

INSTANCE_TYPES: Final[Mapping[str, InstanceType]] = MappingProxyType({row.name: row for row in _ROWS})
"""Every instance type that the catalogue knows, by name."""


def get_instance_type(name: str) -> InstanceType:
    """Look up an instance type.

    Args:
        name: The API name, such as ``trn2.48xlarge``.

    Raises:
        FindingsError: UC4001 when the catalogue has no such type; the message names those that it has.
    """
    try:
        return INSTANCE_TYPES[name]
    except KeyError:
        close = difflib.get_close_matches(str(name).lower(), INSTANCE_TYPES, n=1, cutoff=_CLOSE)
        raise FindingsError(
            [
                Finding(
                    code="UC4001",
                    problem=f"{quote(name)} is not an instance type of the catalogue",
                    allowed=", ".join(INSTANCE_TYPES),
                    remedy=f"The nearest name is {close[0]}." if close else "",
                )
            ]
        ) from None
