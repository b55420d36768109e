from decimal import Decimal
from typing import Any

import pytest

from ultracluster_catalog.lustre.lustre import LustreSettings
from ultracluster_catalog.lustre.lustre_figures import LustreFigures, file_system_figures
from ultracluster_rules.machines import get_instance_type

"""What a file system does for a cluster and what it costs, worked out by hand from the user guide."""


_TIERED: dict[str, Any] = {"storage_type": "INTELLIGENT_TIERING", "read_cache": "NO_CACHE"}


def _figures(
    instance_type: str = "trn2.48xlarge", nodes: int = 4, region: str = "us-east-1", **settings: Any
) -> LustreFigures:
    return file_system_figures(
        LustreSettings(**settings).with_defaults(),
        instance_type=get_instance_type(instance_type),
        nodes=nodes,
        region=region,
    )


def test_the_default_gives_a_node_less_than_the_file_system_has() -> None:
    figures = _figures()
    assert (figures.object_servers, figures.baseline_mb_per_s, figures.node_gbps) == (2, 1200.0, 10)
    assert figures.node_mb_per_s == 300  # 1,200 MB/s among 4 nodes; alone, one could have 1,250


def test_few_nodes_are_limited_by_the_object_servers_and_many_by_the_disks() -> None:
    one = _figures(nodes=1, per_unit_storage_throughput=1000)
    assert (one.baseline_mb_per_s, one.node_mb_per_s) == (4800, 1250)
    assert _figures(nodes=64, per_unit_storage_throughput=1000).node_mb_per_s == 75


def test_scratch_writes_at_half_its_speed() -> None:
    # FSx for Lustre User Guide, performance of SSD storage: 200 (read), 100 (write).
    scratch = _figures(deployment_type="SCRATCH_2", storage_capacity_gib=2400)
    assert (scratch.baseline_mb_per_s, scratch.write_mb_per_s) == (480, 240)
    assert _figures().write_mb_per_s == _figures().baseline_mb_per_s
    tiered = _figures(**_TIERED)
    assert tiered.write_mb_per_s == tiered.baseline_mb_per_s == 4000


@pytest.mark.parametrize(("gib", "gbps"), [(2400, 5), (45_600, 95), (48_000, 100), (96_000, 100)])
def test_a_node_gets_five_gbps_from_each_server_up_to_a_hundred(gib: int, gbps: float) -> None:
    assert _figures(storage_capacity_gib=gib).node_gbps == gbps


def test_efa_helps_clients_that_can_use_it_and_hurts_the_others() -> None:
    large: dict[str, Any] = {"storage_capacity_gib": 38_400, "per_unit_storage_throughput": 1000}
    over_tcp = _figures("trn2.48xlarge", **large)
    assert (over_tcp.object_servers, over_tcp.node_gbps) == (16, 80)
    assert _figures("trn2.48xlarge", **large, efa_enabled=True).node_gbps == 40
    assert _figures("p5.48xlarge", **large, efa_enabled=True).node_gbps == 700
    assert _figures("trn1.32xlarge", **large, efa_enabled=True).node_gbps == 700
    assert _figures("p5.4xlarge", **large, efa_enabled=True).node_gbps == 100


def test_intelligent_tiering_has_one_server_for_each_step() -> None:
    figures = _figures(**_TIERED, throughput_capacity=12_000)
    assert (figures.object_servers, figures.baseline_mb_per_s, figures.node_gbps) == (3, 12_000, 15)
    assert figures.addresses == 4
    assert figures.usd_per_month is None
    assert "INTELLIGENT_TIERING" in figures.price.reason
    assert figures.not_priced == ("throughput capacity", "stored data", "requests")
    cached = _figures(**_TIERED | {"read_cache": "PROPORTIONAL_TO_THROUGHPUT_CAPACITY"})
    assert cached.not_priced[-1] == "SSD read cache"


def test_costs_what_the_price_list_says_for_its_size() -> None:
    # Price List API, read 2026-07-13: 2,400 GB at 0.145 USD.
    figures = _figures(per_unit_storage_throughput=125, storage_capacity_gib=2400)
    assert figures.usd_per_month == Decimal("348.000")
    assert figures.price.dated.isoformat() == "2026-07-13"
    assert figures.not_priced == ()
    assert _figures(deployment_type="SCRATCH_2", storage_capacity_gib=1200).usd_per_month == Decimal(
        "168.000"
    )


@pytest.mark.parametrize(("region", "throughput"), [("us-east-2", 125), ("us-east-1", 250)])
def test_a_price_that_nobody_dated_is_unknown(region: str, throughput: int) -> None:
    figures = _figures(region=region, per_unit_storage_throughput=throughput)
    assert figures.usd_per_month is None
    assert region in figures.price.reason


def test_says_what_is_paid_beside_the_storage() -> None:
    assert _figures(metadata_iops=6000).not_priced == ()
    assert _figures(metadata_iops=12_000, backup_retention_days=7).not_priced == (
        "6000 metadata IOPS beyond the 6000 of the size",
        "backups",
    )
