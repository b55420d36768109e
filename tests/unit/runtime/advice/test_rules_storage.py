"""Advice on file systems."""

from dataclasses import replace
from decimal import Decimal

import pytest
from tests.unit.runtime.advice.advice_recordings import SUBJECT, find_advice, lustre
from tests.unit.runtime.metrics.recordings import recording, series

from ultracluster_catalog.lustre.lustre import LustreSettings
from ultracluster_catalog.prices.prices import capacity_block_price
from ultracluster_runtime.advice import advise


@pytest.mark.parametrize(
    ("used", "moved", "smaller"),
    [
        # Of 1,200 GiB 70 % are 840 GiB, and half of the throughput, which FSx gives as 125 MB/s for each of 1.2 TiB,
        # is 75 MB/s.
        (840, 75, 1200),
        (841, 75, 2400),
        (840, 75.1, 2400),
        (5040, 0, 7200),
        (5041, 0, None),
        (0, 450, 7200),
        (0, 450.1, None),
    ],
)
def test_advises_on_an_oversized_file_system(used: float, moved: float, smaller: int | None) -> None:
    advice = find_advice("oversize-file-system", *lustre(used, moved))
    if smaller is None:
        assert advice is None
        return
    assert advice
    assert f"{smaller:,} GiB of the same kind" in advice.remedy
    assert advice.usd_per_month == round((9600 - smaller) * Decimal("0.145"))


def test_a_file_system_for_efa_keeps_its_steps() -> None:
    settings = LustreSettings(storage_capacity_gib=19_200, per_unit_storage_throughput=500, efa_enabled=True)
    advice = find_advice(
        "oversize-file-system",
        *lustre(10, 10, size=19_200),
        subject=replace(SUBJECT, file_system=settings),
    )
    assert advice
    assert "9,600 GiB of the same kind" in advice.remedy
    assert advice.usd_per_month == Decimal(3264)  # 9,600 x 0.34


@pytest.mark.parametrize(
    "settings", [None, LustreSettings(storage_type="INTELLIGENT_TIERING", throughput_capacity=4000)]
)
def test_file_system_without_a_size_is_skipped(settings: LustreSettings | None) -> None:
    report = advise(recording(*lustre(1, 1)), replace(SUBJECT, file_system=settings))
    assert "oversize-file-system" in {each.rule for each in report.skipped_rules}


def test_unknown_price_means_an_unknown_saving() -> None:
    subject = replace(SUBJECT, node_hour=capacity_block_price("trn2.48xlarge", "eu-north-1"))
    advice = find_advice(
        "unused-nodes",
        series("PaidNodes", "Average", [4.0]),
        series("UnusedNodes", "Average", [4.0]),
        subject=subject,
    )
    assert advice
    assert advice.usd_per_month is None
    assert "eu-north-1" in advice.reason
