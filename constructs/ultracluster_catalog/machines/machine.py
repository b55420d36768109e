"""Data classes for the facts about an instance type and its family."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
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
class BlockSales:
    """Where Capacity Blocks of a type are sold by its name, and the list price of an instance hour, by Region.

    `regions` are those of the EC2 User Guide, `regions_seen` others with real offerings, from which `usd_per_hour_seen` is
    derived.
    """

    regions: tuple[str, ...]
    regions_seen: tuple[str, ...] = ()
    usd_per_hour: Mapping[str, Decimal] = field(default_factory=dict)
    usd_per_hour_seen: Mapping[str, Decimal] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class SpotRange:
    """Lowest and highest Spot price of an instance hour in one Region, and how often it was looked at."""

    lowest_usd: Decimal
    highest_usd: Decimal
    seen: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Machine:
    """Everything that the catalogue knows about one instance type.

    The modules that publish a fact name its source and date: `places.zones`, `capacity.capacity_blocks`,
    `prices.prices`, `limits.sagemaker` and `lustre.lustre_figures`.

    Attributes:
        instance_type: What EC2 describes.
        zone_ids: Zone IDs that EC2 lists the type in.
        blocks: Capacity Blocks of the type. None where none are sold by its name.
        on_demand_usd: On-demand price of an instance hour with Linux, by Region.
        spot: Spot prices that were seen, by Region.
        sagemaker_training: Whether SageMaker training jobs offer the type. Default: no.
        training_plans: Whether SageMaker training plans reserve the type. Default: no.
        lustre_efa_interfaces: EFA interfaces that AWS's setup script for Lustre clients configures. Default: all.
    """

    instance_type: InstanceType
    zone_ids: tuple[str, ...]
    blocks: BlockSales | None = None
    on_demand_usd: Mapping[str, Decimal] = field(default_factory=dict)
    spot: Mapping[str, SpotRange] = field(default_factory=dict)
    sagemaker_training: bool = False
    training_plans: bool = False
    lustre_efa_interfaces: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class PeakTflops:
    """Dense peak of one chip in TFLOPS (10^12 operations per second), by precision with a source."""

    by_precision: Mapping[str, float]
    source: str
    dated: date


@dataclass(frozen=True, kw_only=True, slots=True)
class BlockQuotaCodes:
    """Codes of the quotas on concurrent Capacity Blocks of a family, such as ``Trn2``, and whether AWS's guide has them."""

    family: str
    account: str
    organization: str | None
    in_guide: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class MachineFamily:
    """Instance types that share chips, quotas and UltraServers.

    `peaks` are by chip, `block_quotas` by the part of a type's name before the dot, `ultraserver_regions`, with blocks, by
    UltraServer type.
    """

    machines: tuple[Machine, ...]
    peaks: Mapping[str, PeakTflops] = field(default_factory=dict)
    block_quotas: Mapping[str, BlockQuotaCodes] = field(default_factory=dict)
    ultraserver_regions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def known_type(name: str, **figures: Any) -> InstanceType:
    """Describe an instance type with the source and date that all families share."""
    return describe_instance_type(name, source=_SOURCE, dated=_DATED, **figures)


def peak_tflops(fp8: float, half: float, fp32: float, *, tf32: float, source: str) -> PeakTflops:
    """Describe the dense peak of a chip in TFLOPS, `half` with BF16 and FP16."""
    figures = {"fp8": fp8, "bf16": half, "fp16": half, "tf32": tf32, "fp32": fp32}
    return PeakTflops(by_precision=MappingProxyType(figures), source=source, dated=_PEAKS_DATED)


def block_sales(
    regions: str,
    *,
    usd_per_hour: Mapping[str, str],
    regions_seen: str = "",
    usd_per_hour_seen: Mapping[str, str] = MappingProxyType({}),
) -> BlockSales:
    """Describe where Capacity Blocks of a type are sold, in names separated by spaces; see `BlockSales`."""
    return BlockSales(
        regions=tuple(regions.split()),
        regions_seen=tuple(regions_seen.split()),
        usd_per_hour=_by_region(usd_per_hour),
        usd_per_hour_seen=_by_region(usd_per_hour_seen),
    )


def _by_region(regions_by_price: Mapping[str, str]) -> Mapping[str, Decimal]:
    return MappingProxyType(
        {region: Decimal(usd) for usd, regions in regions_by_price.items() for region in regions.split()}
    )


def spot_range(lowest_usd: str, highest_usd: str, seen: str) -> SpotRange:
    """Describe Spot prices that were seen in one Region."""
    return SpotRange(lowest_usd=Decimal(lowest_usd), highest_usd=Decimal(highest_usd), seen=seen)


def zone_ids(text: str) -> tuple[str, ...]:
    """Split zone IDs that are separated by spaces."""
    return tuple(text.split())
