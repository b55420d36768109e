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
    """Where Capacity Blocks of an instance type are sold by its name, and at what list price.

    Attributes:
        regions: Regions that the EC2 User Guide lists.
        regions_seen: Regions with real offerings that the guide does not list.
        local_zones: Local Zones with Capacity Blocks. An account must opt in to a Local Zone.
        usd_per_hour: List price of one instance for an hour, by Region, from the price page.
        usd_per_hour_seen: The same, derived from a real offering.
    """

    regions: tuple[str, ...]
    regions_seen: tuple[str, ...] = ()
    local_zones: tuple[str, ...] = ()
    usd_per_hour: Mapping[str, Decimal] = field(default_factory=dict)
    usd_per_hour_seen: Mapping[str, Decimal] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class SpotRange:
    """Spot prices that were seen in one Region.

    Attributes:
        lowest_usd: Lowest price of an instance hour.
        highest_usd: Highest price of an instance hour.
        seen: How often it was looked at.
    """

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
    """Peak of one chip.

    Attributes:
        by_precision: Dense TFLOPS (10^12 operations per second) by precision; precisions without a source are absent.
        source: Source of the figures.
        dated: Day on which the source was read.
    """

    by_precision: Mapping[str, float]
    source: str
    dated: date


@dataclass(frozen=True, kw_only=True, slots=True)
class BlockQuotaCodes:
    """Codes of the Service Quotas on concurrent Capacity Blocks of one family.

    Attributes:
        family: Family as the quota's name spells it, such as ``Trn2``.
        account: Code of the quota of an account.
        organization: Code of the quota of an organization. None where it is not known.
        in_guide: Whether AWS's guide lists the codes. Default: yes.
    """

    family: str
    account: str
    organization: str | None
    in_guide: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class MachineFamily:
    """Instance types that share chips, quotas and UltraServers.

    Attributes:
        machines: The instance types.
        peaks: Peak of each chip, by the name in `InstanceType.accelerator`; chips without a source are absent.
        block_quotas: Quotas on Capacity Blocks, by the part of the type's name before the dot.
        ultraserver_regions: Regions with Capacity Blocks of UltraServers, by UltraServer type.
    """

    machines: tuple[Machine, ...]
    peaks: Mapping[str, PeakTflops] = field(default_factory=dict)
    block_quotas: Mapping[str, BlockQuotaCodes] = field(default_factory=dict)
    ultraserver_regions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def known_type(name: str, **figures: Any) -> InstanceType:
    """Describe an instance type with the source and date that all families share.

    Args:
        name: API name.
        **figures: Arguments of `describe_instance_type`.
    """
    return describe_instance_type(name, source=_SOURCE, dated=_DATED, **figures)


def peak_tflops(fp8: float, half: float, fp32: float, *, tf32: float, source: str) -> PeakTflops:
    """Describe the peak of a chip.

    Args:
        fp8: Dense TFLOPS with FP8.
        half: Dense TFLOPS with BF16 and FP16.
        fp32: Dense TFLOPS with FP32.
        tf32: Dense TFLOPS with TF32.
        source: Source of the figures.
    """
    figures = {"fp8": fp8, "bf16": half, "fp16": half, "tf32": tf32, "fp32": fp32}
    return PeakTflops(by_precision=MappingProxyType(figures), source=source, dated=_PEAKS_DATED)


def block_sales(
    regions: str,
    *,
    usd_per_hour: Mapping[str, str],
    regions_seen: str = "",
    local_zones: str = "",
    usd_per_hour_seen: Mapping[str, str] = MappingProxyType({}),
) -> BlockSales:
    """Describe where Capacity Blocks of a type are sold.

    Args:
        regions: Regions of the EC2 User Guide, separated by spaces.
        usd_per_hour: Regions, separated by spaces, by their list price.
        regions_seen: Further Regions with real offerings. Default: none.
        local_zones: Local Zones, separated by spaces. Default: none.
        usd_per_hour_seen: Regions by a price that was derived from a real offering. Default: none.
    """
    return BlockSales(
        regions=tuple(regions.split()),
        regions_seen=tuple(regions_seen.split()),
        local_zones=tuple(local_zones.split()),
        usd_per_hour=_by_region(usd_per_hour),
        usd_per_hour_seen=_by_region(usd_per_hour_seen),
    )


def _by_region(regions_by_price: Mapping[str, str]) -> Mapping[str, Decimal]:
    return MappingProxyType(
        {region: Decimal(usd) for usd, regions in regions_by_price.items() for region in regions.split()}
    )


def spot_range(lowest_usd: str, highest_usd: str, seen: str) -> SpotRange:
    """Describe Spot prices that were seen in one Region.

    Args:
        lowest_usd: Lowest price of an instance hour.
        highest_usd: Highest price of an instance hour.
        seen: How often it was looked at.
    """
    return SpotRange(lowest_usd=Decimal(lowest_usd), highest_usd=Decimal(highest_usd), seen=seen)


def zone_ids(text: str) -> tuple[str, ...]:
    """Split a list of zone IDs.

    Args:
        text: Zone IDs, separated by spaces.
    """
    return tuple(text.split())
