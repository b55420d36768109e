"""Description of an accelerated EC2 instance type: chips, network cards, memory, storage and purchase options."""

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

# A container never gets the whole memory: kernel, ECS agent and AWS Batch reserve some. Measured only for
# trn1.32xlarge (507,821 of 524,288 MiB, pytorch/torchx issue 795); elsewhere this share is what torchx assumes.
_CONTAINER_MEMORY_SHARE: Final = 0.96


@dataclass(frozen=True, kw_only=True, slots=True)
class NetworkCard:
    """One network card of an instance type.

    Attributes:
        index: NetworkCardIndex, from 0.
        max_interfaces: Maximum number of network interfaces; device indexes are below it.
        efa: Whether the card supports one `efa` or `efa-only` interface.
        gbps: Peak bandwidth in Gbit/s.
    """

    index: int
    max_interfaces: int
    efa: bool
    gbps: float


@dataclass(frozen=True, kw_only=True, slots=True)
class InstanceType:
    """Description of an instance type.

    Attributes:
        name: API name, such as ``trn2.48xlarge``.
        vcpus: vCPUs with the default core options; also what an instance uses of a vCPU quota.
        memory_mib: Memory of the instance in MiB.
        accelerator: Name of the chip, such as ``Trainium2``.
        chips: Chips in one instance.
        device_memory_gib: Memory of one chip in GiB.
        neuron_cores: Physical NeuronCores of the whole instance; 0 for GPUs.
        logical_neuron_cores: NeuronCores that software sees with the default logical NeuronCore configuration
            (2 since Trainium2, 1 before), for the whole instance; 0 for GPUs.
        network_cards: The network cards in order of their index.
        efa_interfaces: Maximum number of EFA and EFA-only interfaces; 0 where EFA is unsupported.
        ipv4_per_interface: Maximum number of IPv4 addresses per interface.
        network_gbps: Peak network bandwidth of the instance in Gbit/s.
        nvme_count: Number of instance-store disks.
        nvme_gb: Size of one of these disks in GB (10^9 bytes); 0 without disks.
        purchase_options: Any of ``on-demand``, ``spot`` and ``capacity-block``: the usage classes that EC2 lists.
            For Regions and zones, see `ultracluster_catalog.capacity.capacity_blocks` and `places.zones`.
        ultraserver_type: Type of the UltraServer that instances belong to. None outside UltraServers, or if it is not known.
        instances_per_ultraserver: Number of instances of an UltraServer; 1 outside UltraServers.
        container_memory_mib: Memory that a single container on the instance can request, in MiB.
        container_memory_source: Whether that figure was ``measured`` or is an ``estimate``.
        efa_generation: Generation of EFA. None where EFA is unsupported.
        nitro_generation: Generation of the Nitro System.
        source: Source of the figures.
        dated: Day of the newest evidence.
        notes: Contradictions between sources and their resolution. Default: none.
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
    def is_neuron(self) -> bool:
        """Whether the chips use the Neuron SDK: Trainium and Inferentia."""
        return self.neuron_cores > 0

    @property
    def in_ultraserver(self) -> bool:
        """Whether instances of the type are parts of an UltraServer."""
        return self.instances_per_ultraserver > 1

    @property
    def gpus(self) -> int:
        """Number of GPUs, which AWS Batch allocates by count; 0 for Neuron devices."""
        return 0 if self.is_neuron else self.chips

    @property
    def neuron_devices(self) -> tuple[str, ...]:
        """Device files of the chips, ``/dev/neuron0`` onwards; empty for GPUs."""
        return tuple(f"/dev/neuron{index}" for index in range(self.chips if self.is_neuron else 0))

    @property
    def efa_devices(self) -> tuple[str, ...]:
        """Device files of the EFA interfaces, ``/dev/infiniband/uverbs0`` onwards, if all are attached."""
        return tuple(f"/dev/infiniband/uverbs{index}" for index in range(self.efa_interfaces))


def network_cards(
    count: int, *, max_interfaces: int, gbps: float, efa: bool = True, first: int = 0
) -> tuple[NetworkCard, ...]:
    """Return descriptions of identical network cards, with indexes from `first`."""
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
    """Describe an instance type; its other attributes, see `InstanceType`, are derived.

    Use it for a type that the catalogue does not know yet, and pass the result wherever an instance type is expected.
    `cores_per_chip` is 0 for a GPU. `network_gbps` is by default that of all cards with EFA, or of all. `nvme` is the
    number of instance-store disks and the size of each in GB; `ultraserver` is the type and its number of instances.
    Without `measured_container_memory_mib`, a container is estimated to get 96 % of the memory.
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
