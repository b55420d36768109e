"""Facts of a machine are written as short texts and read as values."""

from decimal import Decimal

from ultracluster_catalog.machines.machine import block_sales, peak_tflops, spot_range, zone_ids


def test_each_region_of_a_price_has_that_price() -> None:
    sales = block_sales(
        "us-east-1 us-east-2",
        usd_per_hour={"35.76": "us-east-1 us-east-2", "40.2": "eu-north-1"},
        usd_per_hour_seen={"36": "us-west-2"},
    )

    assert sales.usd_per_hour == {
        "us-east-1": Decimal("35.76"),
        "us-east-2": Decimal("35.76"),
        "eu-north-1": Decimal("40.2"),
    }
    assert sales.usd_per_hour_seen == {"us-west-2": Decimal(36)}
    assert (sales.regions, sales.regions_seen) == (("us-east-1", "us-east-2"), ())


def test_both_precisions_of_16_bits_have_one_peak() -> None:
    peak = peak_tflops(1299, 667, 181, tf32=667, source="a page").by_precision

    assert (peak["bf16"], peak["fp16"]) == (667, 667)
    assert (peak["fp8"], peak["fp32"]) == (1299, 181)
    assert peak["tf32"] == 667
    assert len(peak) == 5


def test_amounts_and_zones_of_a_text_are_exact() -> None:
    assert spot_range("8.99", "15.37", "weekly").lowest_usd == Decimal("8.99")
    assert zone_ids(" use2-az1  use2-az3 ") == ("use2-az1", "use2-az3")
