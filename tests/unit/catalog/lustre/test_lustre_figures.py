from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

import pytest

from ultracluster_catalog.lustre.lustre import METADATA_IOPS, LustreSettings
from ultracluster_catalog.lustre.lustre_figures import (
    LustreFigures,
    automatic_metadata_iops,
    can_mount_over_efa,
    client_throughput_gbps,
    file_system_figures,
    file_system_interfaces,
    object_servers,
    throughput_mb_per_s,
)
from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES
from ultracluster_spec.instance_type import get_instance_type

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


def test_a_node_gets_less_throughput_than_the_file_system_by_default() -> None:
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


def test_costs_as_much_as_the_price_list_states_for_its_size() -> None:
    # Price List API, read 2026-07-13: 2,400 GB at 0.145 USD.
    figures = _figures(per_unit_storage_throughput=125, storage_capacity_gib=2400)
    assert figures.usd_per_month == Decimal("348.000")
    assert figures.price.dated.isoformat() == "2026-07-13"
    assert figures.not_priced == ()
    assert _figures(deployment_type="SCRATCH_2", storage_capacity_gib=1200).usd_per_month == Decimal(
        "168.000"
    )


@pytest.mark.parametrize(("region", "throughput"), [("ap-southeast-4", 125), ("eu-south-1", 250)])
def test_a_price_without_a_date_is_unknown(region: str, throughput: int) -> None:
    figures = _figures(region=region, per_unit_storage_throughput=throughput)
    assert figures.usd_per_month is None
    assert region in figures.price.reason


def test_says_what_is_paid_beside_the_storage() -> None:
    assert _figures(metadata_iops=6000).not_priced == ()
    assert _figures(backup_retention_days=1).not_priced == ("backups",)
    assert _figures(metadata_iops=12_000, backup_retention_days=7).not_priced == (
        "6000 metadata IOPS beyond the 6000 of the size",
        "backups",
    )


_Shapes = Callable[[str], Mapping[str, Any]]


_PERSISTENT_2 = ("PERSISTENT_2", 250)


@pytest.fixture(scope="module")
def shapes(botocore_shapes: _Shapes) -> Mapping[str, Any]:
    return botocore_shapes("fsx/2018-03-01")


def _settings(deployment_type: str, throughput: int | None, gib: int, **options: Any) -> LustreSettings:
    """A file system on the disks of its deployment type."""
    return LustreSettings(
        **{"storage_type": "HDD" if throughput in {12, 40} else "SSD"} | options,
        deployment_type=deployment_type,
        per_unit_storage_throughput=throughput,
        storage_capacity_gib=gib,
    )


@pytest.mark.parametrize(
    ("gib", "iops"),
    [
        (1200, 1500),
        (2400, 3000),
        (4800, 6000),
        (9600, 6000),
        (12_000, 12_000),
        (45_600, 12_000),
        (48_000, 24_000),
        (69_600, 24_000),
        (72_000, 36_000),
        (2_400_000, 192_000),
    ],
)
def test_fsx_provisions_metadata_iops_by_capacity(gib: int, iops: int) -> None:
    assert automatic_metadata_iops(gib) == iops
    assert iops in METADATA_IOPS


@pytest.mark.parametrize(
    ("deployment_type", "throughput", "gib", "efa", "servers"),
    [
        ("PERSISTENT_2", 250, 1200, False, 1),
        ("PERSISTENT_2", 250, 2400, False, 1),
        ("PERSISTENT_2", 250, 4800, False, 2),
        ("PERSISTENT_2", 250, 7_200_000, False, 3000),
        ("PERSISTENT_2", 1000, 38_400, False, 16),
        ("PERSISTENT_2", 1000, 38_400, True, 8),
        ("PERSISTENT_2", 500, 38_400, True, 4),
        ("PERSISTENT_2", 250, 38_400, True, 2),
        ("PERSISTENT_2", 125, 38_400, True, 1),
        ("PERSISTENT_1", 12, 6000, False, 1),
        ("PERSISTENT_1", 12, 12_000, False, 2),
        ("PERSISTENT_1", 40, 3600, False, 2),
        ("PERSISTENT_1", 50, 4800, False, 2),
        ("SCRATCH_2", None, 4800, False, 2),
        ("SCRATCH_1", None, 3600, False, 1),
        ("SCRATCH_1", None, 14_400_000, False, 4000),
        ("SCRATCH_2", None, 7_200_000, False, 3000),
        ("SCRATCH_1", None, 7200, False, 2),
    ],
)
def test_counts_object_servers_as_the_user_guide_does(
    deployment_type: str,
    throughput: int | None,
    gib: int,
    efa: bool,
    servers: int,
) -> None:
    assert object_servers(_settings(deployment_type, throughput, gib, efa_enabled=efa)) == servers


@pytest.mark.parametrize(("gib", "servers"), [(1200, 2), (2400, 2), (4800, 3), (9600, 5), (50_400, 22)])
def test_a_scratch_file_system_has_the_servers_of_the_durability_table(gib: int, servers: int) -> None:
    # FSx for Lustre User Guide, deployment options: number of file servers by size, metadata server included.
    assert file_system_interfaces(_settings("SCRATCH_2", None, gib)) == servers


@pytest.mark.parametrize(
    ("iops", "interfaces"), [(None, 3), (1500, 3), (12_000, 3), (24_000, 4), (192_000, 18)]
)
def test_metadata_servers_take_addresses_too(iops: int | None, interfaces: int) -> None:
    assert file_system_interfaces(_settings(*_PERSISTENT_2, 4800, metadata_iops=iops)) == interfaces


def test_throughput_is_that_of_the_example_of_fsx(shapes: Mapping[str, Any]) -> None:
    example = "2.4-TiB \ufb01le system, provisioning 50 MB/s/TiB of <code>PerUnitStorageThroughput</code> yields 120 MB/s"
    members = shapes["CreateFileSystemLustreConfiguration"]["members"]
    assert example in members["PerUnitStorageThroughput"]["documentation"]

    assert throughput_mb_per_s(_settings("PERSISTENT_1", 50, 2400)) == 120


@pytest.mark.parametrize(("servers", "gbps"), [(1, 5), (2, 10), (19, 95), (20, 100), (21, 100)])
def test_a_client_without_efa_is_limited_by_the_object_servers(servers: int, gbps: float) -> None:
    assert client_throughput_gbps(object_servers=servers) == gbps


@pytest.mark.parametrize("deployment_type", ["SCRATCH_1", "SCRATCH_2"])
def test_a_scratch_file_system_has_200_mb_per_s_and_tib(deployment_type: str) -> None:
    assert throughput_mb_per_s(_settings(deployment_type, None, 1200)) == 240


def test_a_file_system_is_without_efa_unless_said_otherwise() -> None:
    tcp, efa = (_settings("PERSISTENT_2", 1000, 38_400, **o) for o in ({}, {"efa_enabled": True}))
    assert object_servers(tcp) == 16
    assert file_system_interfaces(tcp) == 16 + 1
    assert file_system_interfaces(efa) == 8 + 1


def test_a_client_is_limited_by_its_own_interface() -> None:
    assert client_throughput_gbps(object_servers=20, network_gbps=50) == 50
    assert client_throughput_gbps(object_servers=2, network_gbps=50) == 10


def test_trainium2_cannot_mount_over_efa_and_trainium_can() -> None:
    assert {name for name, row in INSTANCE_TYPES.items() if can_mount_over_efa(row)} == {
        "trn1.32xlarge",
        "trn1n.32xlarge",
        "p5.4xlarge",
        "p5.48xlarge",
        "p5e.48xlarge",
        "p5en.48xlarge",
        "p6-b200.48xlarge",
        "p6-b300.48xlarge",
    }
