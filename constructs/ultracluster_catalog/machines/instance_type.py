"""What is known of one accelerated EC2 instance type: chips, network cards, memory, storage, how it can be bought."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import Final, Literal

__all__ = [
    "CAPACITY_BLOCK",
    "ON_DEMAND",
    "SPOT",
    "InstanceType",
    "NetworkCard",
    "describe_instance_type",
    "network_cards",
]

ON_DEMAND: Final = "on-demand"
SPOT: Final = "spot"
CAPACITY_BLOCK: Final = "capacity-block"

# A container never gets the whole memory: the kernel, the ECS agent and Batch keep some. Measured only for
# trn1.32xlarge (507,821 of 524,288 MiB, pytorch/torchx issue 795); elsewhere this share is what torchx assumes.
_CONTAINER_MEMORY_SHARE: Final = 0.96


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
            Where each is sold is another question: see `ultracluster_catalog.capacity.capacity_blocks` and `zones`.
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
    def gpus(self) -> int:
        """GPUs of one instance, which AWS Batch hands out by number; 0 where the chips are device files."""
        return 0 if self.is_neuron else self.chips

    @property
    def neuron_devices(self) -> tuple[str, ...]:
        """Device files of the chips, ``/dev/neuron0`` onwards; empty for GPUs."""
        return tuple(f"/dev/neuron{index}" for index in range(self.chips if self.is_neuron else 0))

    @property
    def efa_devices(self) -> tuple[str, ...]:
        """Device files of the EFA interfaces, ``/dev/infiniband/uverbs0`` onwards, when all are attached."""
        return tuple(f"/dev/infiniband/uverbs{index}" for index in range(self.efa_interfaces))


def network_cards(
    count: int, *, max_interfaces: int, gbps: float, efa: bool = True, first: int = 0
) -> tuple[NetworkCard, ...]:
    """Describe network cards that are all alike.

    Args:
        count: How many.
        max_interfaces: Network interfaces that can be attached to each.
        gbps: Peak bandwidth of each in Gbit/s.
        efa: Whether each takes an EFA interface. Default: it does.
        first: Index of the first one. Default: 0.
    """
    return tuple(
        NetworkCard(index=index, max_interfaces=max_interfaces, efa=efa, gbps=gbps)
        for index in range(first, first + count)
    )


def describe_instance_type(
    name: str,
    *,
    vcpus: int,
    memory_gib: int,
    accelerator: str,
    chips: int,
    device_memory_gib: float,
    cards: Iterable[NetworkCard],
    ipv4_per_interface: int,
    purchase_options: Iterable[str],
    source: str,
    dated: date,
    nitro_generation: int,
    network_gbps: float | None = None,
    efa_generation: int | None = None,
    nvme: tuple[int, int] = (0, 0),
    cores_per_chip: int = 0,
    logical_nc_config: int = 1,
    ultraserver: tuple[str | None, int] = (None, 1),
    measured_container_memory_mib: int | None = None,
    notes: str = "",
) -> InstanceType:
    """Describe an instance type by what differs between types; everything else follows from it.

    A type that the catalogue does not know, such as one that was announced yesterday, is described by its user and
    passed wherever a name is taken.

    Args:
        name: The API name, such as ``trn3.48xlarge``.
        vcpus: vCPUs of one instance.
        memory_gib: Memory of one instance in GiB.
        accelerator: Name of the chip, such as ``Trainium2``.
        chips: Chips in one instance.
        device_memory_gib: Memory of one chip in GiB.
        cards: The network cards in order of their index; see `network_cards`.
        ipv4_per_interface: IPv4 addresses that one interface can hold.
        purchase_options: Any of ``on-demand``, ``spot`` and ``capacity-block``.
        source: Where the figures come from.
        dated: The day of that source.
        nitro_generation: Generation of the Nitro System.
        network_gbps: Peak network bandwidth in Gbit/s. Default: that of all cards with EFA, or of all.
        efa_generation: Generation of EFA. Default: not known, or none.
        nvme: Number of instance-store disks and GB of each. Default: none.
        cores_per_chip: NeuronCores of one chip. Default: none, as of a GPU.
        logical_nc_config: NeuronCores that make one logical core without being told. Default: 1.
        ultraserver: UltraServer type, and instances of one. Default: no part of an UltraServer.
        measured_container_memory_mib: What a container that has the instance to itself gets, in MiB.
            Default: estimated, 96 % of the memory.
        notes: Contradictions between sources and how they were resolved. Default: none known.
    """
    cards = tuple(cards)
    memory_mib = memory_gib * 1024
    if network_gbps is None:
        network_gbps = sum(card.gbps for card in cards if card.efa) or sum(card.gbps for card in cards)
    return InstanceType(
        name=name,
        vcpus=vcpus,
        memory_mib=memory_mib,
        accelerator=accelerator,
        chips=chips,
        device_memory_gib=device_memory_gib,
        neuron_cores=chips * cores_per_chip,
        logical_neuron_cores=chips * cores_per_chip // logical_nc_config,
        network_cards=cards,
        efa_interfaces=sum(card.efa for card in cards),
        ipv4_per_interface=ipv4_per_interface,
        network_gbps=network_gbps,
        nvme_count=nvme[0],
        nvme_gb=nvme[1],
        purchase_options=frozenset(purchase_options),
        ultraserver_type=ultraserver[0],
        instances_per_ultraserver=ultraserver[1],
        container_memory_mib=measured_container_memory_mib or int(memory_mib * _CONTAINER_MEMORY_SHARE),
        container_memory_source="measured" if measured_container_memory_mib else "estimate",
        efa_generation=efa_generation,
        nitro_generation=nitro_generation,
        source=source,
        dated=dated,
        notes=notes,
    )
