"""Data classes for the facts about an instance type and its family."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from types import MappingProxyType
from typing import Any, Final

from ultracluster_catalog.machines.instance_type import InstanceType, describe_instance_type

_SOURCE: Final = (
    "EC2 DescribeInstanceTypes (copy in moto 5.2.5), EC2 User Guide (EFA, network cards), EC2 instance types guide "
    "(Nitro generations), Neuron documentation 2.32 (Trainium architecture)"
)
_DATED: Final = date(2026, 8, 21)
_PEAKS_DATED: Final = date(2026, 11, 21)


@dataclass(frozen=True, kw_only=True, slots=True)
class Machine:
    """Everything that the catalogue knows about one instance type, except for its prices.

    The modules that publish a fact name its source and date: `places.zones`, `capacity.capacity_blocks`,
    `limits.sagemaker` and `lustre.lustre_figures`.

    Attributes:
        instance_type: What EC2 describes.
        zone_ids: Zone IDs that EC2 lists the type in.
        block_regions: Regions where the EC2 User Guide lists Capacity Blocks of the type by its name.
        block_regions_seen: Other Regions with real offerings.
        block_local_zones: Names of the Local Zones in which the guide lists blocks of the type.
        sagemaker_training: Whether SageMaker training jobs offer the type.
        training_plans: Whether SageMaker training plans reserve the type.
        lustre_efa_interfaces: EFA interfaces that AWS's setup script for Lustre clients configures. None for all.
    """

    instance_type: InstanceType
    zone_ids: tuple[str, ...]
    block_regions: tuple[str, ...]
    block_regions_seen: tuple[str, ...]
    block_local_zones: tuple[str, ...]
    sagemaker_training: bool
    training_plans: bool
    lustre_efa_interfaces: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class PeakTflops:
    """Dense peak of one chip in TFLOPS (10^12 operations per second), by precision with a source."""

    by_precision: Mapping[str, float]
    source: str
    dated: date


@dataclass(frozen=True, kw_only=True, slots=True)
class BlockQuota:
    """Code of the quota on concurrent Capacity Blocks of a family, such as ``Trn2``, and whether AWS's guide has it."""

    family: str
    code: str
    in_guide: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class AnnouncedChip:
    """A chip whose instance types EC2 has not published.

    Attributes:
        name: Name of the chip, such as ``Trainium3``.
        prefix: Start of the names of its instance types, also its target of the compiler.
        cores_per_chip: Physical NeuronCores of one chip.
        logical_nc_config: NeuronCores of a logical one by default.
        device_memory_gib: Memory of one chip in GiB.
        ultraservers: Chips of one server, by the number of servers of an UltraServer.
        asked: Day on which EC2 was last seen to have no type of it.
        source: Source of the figures.
        dated: Day of that source.
    """

    name: str
    prefix: str
    cores_per_chip: int
    logical_nc_config: int
    device_memory_gib: int
    ultraservers: Mapping[int, int]
    asked: date
    source: str
    dated: date


@dataclass(frozen=True, kw_only=True, slots=True)
class MachineFamily:
    """Instance types that share chips, quotas and UltraServers.

    `peaks` are by chip, `block_quotas` by the part of a type's name before the dot, `ultraserver_regions`, with blocks, by
    UltraServer type. `announced` is the chip of a family whose types are not all published.
    """

    machines: tuple[Machine, ...]
    peaks: Mapping[str, PeakTflops] = field(default_factory=dict)
    block_quotas: Mapping[str, BlockQuota] = field(default_factory=dict)
    ultraserver_regions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    announced: AnnouncedChip | None = None


def describe_machine(
    name: str,
    *,
    zone_ids: str,
    block_regions: str = "",
    block_regions_seen: str = "",
    block_local_zones: str = "",
    sagemaker_training: bool = False,
    training_plans: bool = False,
    lustre_efa_interfaces: int | None = None,
    **figures: Any,
) -> Machine:
    """Describe a machine: zones and Regions are separated by spaces, `figures` are those of `describe_instance_type`."""
    return Machine(
        instance_type=describe_instance_type(name, source=_SOURCE, dated=_DATED, **figures),
        zone_ids=tuple(zone_ids.split()),
        block_regions=tuple(block_regions.split()),
        block_regions_seen=tuple(block_regions_seen.split()),
        block_local_zones=tuple(block_local_zones.split()),
        sagemaker_training=sagemaker_training,
        training_plans=training_plans,
        lustre_efa_interfaces=lustre_efa_interfaces,
    )


def peak_tflops(fp8: float, half: float, fp32: float, *, tf32: float, source: str) -> PeakTflops:
    """Describe the dense peak of a chip in TFLOPS, `half` with BF16 and FP16."""
    figures = {"fp8": fp8, "bf16": half, "fp16": half, "tf32": tf32, "fp32": fp32}
    return PeakTflops(by_precision=MappingProxyType(figures), source=source, dated=_PEAKS_DATED)
