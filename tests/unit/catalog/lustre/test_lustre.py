import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from ultracluster_catalog.lustre.lustre import LUSTRE_PORTS, METADATA_IOPS, LustreSettings
from ultracluster_catalog.lustre.lustre_figures import (
    automatic_metadata_iops,
    can_mount_over_efa,
    client_throughput_gbps,
    file_system_interfaces,
    object_servers,
    throughput_mb_per_s,
)
from ultracluster_catalog.lustre.lustre_tiers import LUSTRE_TIERS, get_lustre_tier
from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES

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


def test_knows_the_deployment_types_of_fsx(shapes: Mapping[str, Any]) -> None:
    assert {tier.deployment_type for tier in LUSTRE_TIERS} == set(shapes["LustreDeploymentType"]["enum"])


def test_knows_the_throughput_tiers_of_fsx(shapes: Mapping[str, Any]) -> None:
    text = shapes["CreateFileSystemLustreConfiguration"]["members"]["PerUnitStorageThroughput"][
        "documentation"
    ]
    theirs = {
        (deployment_type, storage_type): tuple(map(int, values.split(", ")))
        for deployment_type, storage_type, values in re.findall(
            r"For <code>(\w+)</code> (\w+) storage: ([\d, ]+) MB/s/TiB", text
        )
    }
    ours: dict[tuple[str, str], tuple[int, ...]] = {}
    for tier in LUSTRE_TIERS:
        if tier.per_unit_storage_throughput is not None:
            key = (tier.deployment_type, tier.storage_type)
            ours[key] = (*ours.get(key, ()), tier.per_unit_storage_throughput)

    assert len(theirs) == 3
    assert ours == theirs


def test_metadata_iops_have_the_bounds_of_fsx(shapes: Mapping[str, Any]) -> None:
    bounds = shapes["MetadataIops"]
    assert (METADATA_IOPS[0], METADATA_IOPS[-1]) == (bounds["min"], bounds["max"])
    assert METADATA_IOPS[:6] == (1500, 3000, 6000, 12_000, 24_000, 36_000)


def test_opens_the_ports_of_the_user_guide() -> None:
    # FSx for Lustre User Guide, access control with security groups: TCP 988 and 1018 to 1023, both ways.
    assert LUSTRE_PORTS == ((988, 988), (1018, 1023))


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


@pytest.mark.parametrize(("deployment_type", "throughput"), [("PERSISTENT_3", 250), ("SCRATCH_2", 200)])
def test_a_tier_that_fsx_does_not_have_is_not_found(deployment_type: str, throughput: int) -> None:
    with pytest.raises(ValueError, match=f"{deployment_type}.*{throughput} MB/s per TiB"):
        get_lustre_tier(deployment_type, throughput)
