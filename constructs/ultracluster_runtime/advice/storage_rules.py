"""Rule about a file system that is larger than its use requires."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Final

from ultracluster_catalog.lustre.lustre import INTELLIGENT_TIERING, LustreSettings
from ultracluster_catalog.lustre.lustre_figures import throughput_mb_per_s
from ultracluster_catalog.lustre.lustre_tiers import get_lustre_tier
from ultracluster_catalog.prices.prices import lustre_storage_price
from ultracluster_runtime.advice.subject import Advice, SkippedRule, Subject
from ultracluster_runtime.metrics.recorded_metrics import Recording

_RULE: Final = "oversize-file-system"
_FULL: Final = 0.7  # maximum fill level of the smaller file system
_BUSY: Final = 0.5  # maximum share of its baseline throughput in the busiest period


def oversize_file_system(recording: Recording, subject: Subject) -> Iterator[Advice | SkippedRule]:
    """Find the smallest sufficient file system of the same kind."""
    settings = subject.file_system
    if settings is None or settings.storage_type == INTELLIGENT_TIERING or not settings.storage_capacity_gib:
        yield SkippedRule(rule=_RULE, reason="the rollout has no file system of a fixed size")
        return
    free = recording.values("FreeDataStorageCapacity", "Sum")
    moved = _bytes_moved(recording)
    if not (free and moved):
        reason = "FreeDataStorageCapacity (--file-system) and LustreReadBytes or LustreWriteBytes were not recorded"
        yield SkippedRule(rule=_RULE, reason=reason)
        return
    size = settings.storage_capacity_gib
    used = max(0.0, size - min(free) / (recording.period / timedelta(minutes=1)) / 2**30)
    peak = max(moved) / recording.period.total_seconds() / 1e6
    smaller = _smallest(settings, used_gib=used, peak_mb_per_s=peak)
    if smaller < size:
        price = lustre_storage_price(
            settings.deployment_type, settings.per_unit_storage_throughput, subject.region
        )
        saved = None if price.amount is None else (price.amount * (size - smaller)).quantize(Decimal(1))
        yield Advice(
            rule=_RULE,
            evidence=f"at most {used:,.0f} of {size:,} GiB were used, with a peak throughput of {peak:,.0f} MB/s",
            remedy=f"{smaller:,} GiB of the same kind would have been less than {_FULL:.0%} full and {_BUSY:.0%} busy; a "
            "file system cannot shrink, so use the smaller size for the next cluster. Less capacity means less "
            "throughput for checkpoints",
            usd_per_month=saved,
            reason=price.reason,
        )


def _bytes_moved(recording: Recording) -> list[float]:
    moved: dict[object, float] = {}
    for metric in ("LustreReadBytes", "LustreWriteBytes"):
        for moment, value in recording.points(metric, "Sum"):
            moved[moment] = moved.get(moment, 0) + value
    return list(moved.values())


def _smallest(settings: LustreSettings, *, used_gib: float, peak_mb_per_s: float) -> int:
    size = settings.storage_capacity_gib or 0
    tier = get_lustre_tier(settings.deployment_type, settings.per_unit_storage_throughput)
    sizes = sorted({*tier.small_capacities_gib, *range(tier.capacity_step_gib, size, tier.capacity_step_gib)})
    return next(
        (
            capacity
            for capacity in sizes
            if tier.allows(capacity, efa_enabled=settings.efa_enabled)
            and used_gib <= _FULL * capacity
            and peak_mb_per_s
            <= _BUSY * throughput_mb_per_s(replace(settings, storage_capacity_gib=capacity), writing=True)
        ),
        size,
    )
