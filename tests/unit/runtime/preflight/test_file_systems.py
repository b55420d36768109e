"""Evaluation of existing file systems: state, place and security groups."""

from dataclasses import replace
from typing import Any

import pytest
from tests.unit.runtime.preflight.preflight_cases import CLUSTER

from ultracluster_runtime.preflight import file_systems
from ultracluster_runtime.preflight.check import Status, checks_of
from ultracluster_runtime.preflight.subjects import Part
from ultracluster_spec.file_system import FileSystem
from ultracluster_spec.network import Network

STATE, PLACE, PORTS = checks_of(file_systems)
NETWORK = Network(vpc_id="vpc-1", subnet_id="subnet-1")


def of(**changes: Any) -> Part:
    """A file system, which the cluster describes otherwise."""
    system = replace(FileSystem(file_system_id="fs-1", mount_name="abc"), **changes)
    return Part(cluster=replace(CLUSTER, network=NETWORK, file_system=system), name="fs-1")


LUSTRE = of()
IN_NEW_VPC = Part(cluster=replace(LUSTRE.cluster, network=Network()), name="fs-1")
DESCRIPTION = {
    "FileSystemType": "LUSTRE",
    "Lifecycle": "AVAILABLE",
    "LustreConfiguration": {"MountName": "abc"},
}


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({}, Status.PASS),
        ({"Lifecycle": "UPDATING"}, Status.PASS),
        ({"Lifecycle": "CREATING"}, Status.WARN),
        ({"Lifecycle": "FAILED"}, Status.FAIL),
        ({"FileSystemType": "ONTAP"}, Status.FAIL),
        ({"LustreConfiguration": {"MountName": "xyz"}}, Status.FAIL),
        ({"FileSystemTypeVersion": "2.10"}, Status.FAIL),
        ({"FileSystemTypeVersion": "2.12"}, Status.PASS),
        ({"FileSystemTypeVersion": "2.15"}, Status.PASS),
    ],
)
def test_file_system_must_be_lustre_and_available_under_its_mount_name(
    changes: dict[str, Any], status: Status
) -> None:
    assert STATE.evaluate(LUSTRE, DESCRIPTION | changes).status is status


def test_missing_file_system_fails() -> None:
    assert STATE.evaluate(LUSTRE, None).status is Status.FAIL


@pytest.mark.parametrize(
    ("evidence", "status"),
    [
        (("vpc-1", "use2-az3"), Status.PASS),
        (("vpc-1", "use2-az1"), Status.FAIL),
        (("vpc-1", None), Status.WARN),
        (("vpc-2", "use2-az3"), Status.FAIL),
    ],
)
def test_file_system_must_be_in_the_vpc_and_zone_of_the_nodes(
    evidence: tuple[str, str | None], status: Status
) -> None:
    assert PLACE.evaluate(LUSTRE, evidence).status is status
    assert PLACE.evaluate(IN_NEW_VPC, evidence).status is Status.FAIL


def group(*rules: tuple[str, int, int]) -> list[dict[str, Any]]:
    permissions = [{"IpProtocol": kind, "FromPort": low, "ToPort": high} for kind, low, high in rules]
    return [{"GroupId": "sg-1", "IpPermissions": permissions}]


LOW, HIGH = 988, 1023  # FSx for Lustre User Guide, "File system access control with Amazon VPC"


@pytest.mark.parametrize(
    ("groups", "status"),
    [
        (group(("tcp", 988, 988), ("tcp", 1018, 1023)), Status.WARN),
        (group(("tcp", LOW, HIGH)), Status.WARN),
        (group(("-1", -1, -1)), Status.WARN),
        (group(("tcp", LOW, HIGH - 1)), Status.FAIL),
        (group(("tcp", LOW + 1, HIGH)), Status.FAIL),
        (group(("udp", LOW, HIGH)), Status.FAIL),
        (group(("tcp", 988, 988)), Status.FAIL),
        (group(("tcp", 988, 988), ("tcp", 1018, 1022)), Status.FAIL),
        ([], Status.SKIP),
    ],
)
def test_every_port_of_lustre_must_be_open(groups: list[dict[str, Any]], status: Status) -> None:
    assert PORTS.evaluate(LUSTRE, groups).status is status


@pytest.mark.parametrize(("group_id", "status"), [("sg-1", Status.PASS), ("sg-2", Status.FAIL)])
def test_group_that_gets_the_rules_must_be_one_of_the_file_system(group_id: str, status: Status) -> None:
    assert PORTS.evaluate(of(security_group_id=group_id), group()).status is status
