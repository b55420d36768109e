"""Recordings of a cluster for the tests of advice."""

from datetime import date
from decimal import Decimal

from tests.unit.runtime.metrics.recordings import NODES, PERIOD, recording, series

from ultracluster_catalog.lustre.lustre import LustreSettings
from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES
from ultracluster_catalog.prices.prices import Price
from ultracluster_runtime.advice import Advice, Subject, advise
from ultracluster_runtime.metrics.recorded_metrics import Series

SUBJECT = Subject(
    instance_type=INSTANCE_TYPES["trn2.48xlarge"],
    region="us-east-1",
    node_hour=Price(amount=Decimal(10), unit="instance-hour", source="the test", dated=date(2026, 11, 21)),
    efa_interfaces=16,
    file_system=LustreSettings(storage_capacity_gib=9600, per_unit_storage_throughput=125),
    untuned_jobs=frozenset({"train"}),
)
MINUTES = 5


def find_advice(rule: str, *made: Series, subject: Subject = SUBJECT, hours: float = 1) -> Advice | None:
    report = advise(recording(*made, hours=hours), subject)
    named = [each for each in report.advice if each.rule == rule]
    assert len(named) <= 1
    return named[0] if named else None


def reporting(nodes: float = NODES, count: int = 12) -> Series:
    return series("NodesReporting", "Sum", [nodes * MINUTES] * count)


def of_job(metric: str, statistic: str, *values: float) -> Series:
    return series(metric, statistic, list(values), job="train")


def lustre(used_gib: float, mb_per_s: float, size: int = 9600) -> tuple[Series, ...]:
    free = (size - used_gib) * 2**30 * MINUTES
    moved = mb_per_s * 1e6 * PERIOD.total_seconds() / 2
    return (
        series("FreeDataStorageCapacity", "Sum", [size * 2.0**30 * MINUTES, free]),
        series("LustreReadBytes", "Sum", [0.0, moved]),
        series("LustreWriteBytes", "Sum", [0.0, moved]),
    )
