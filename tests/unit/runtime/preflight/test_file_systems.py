"""Evaluation of existing file systems: state, place and security groups."""

from dataclasses import replace
from typing import Any

import pytest
from botocore.exceptions import ClientError
from tests.unit.runtime.preflight.preflight_cases import CLUSTER, Client, error, reads_of

from ultracluster_runtime.preflight import file_systems
from ultracluster_runtime.preflight.check import Status, checks_of
from ultracluster_runtime.preflight.subjects import Account, Part
from ultracluster_spec.file_system import FileSystem
from ultracluster_spec.job import Mount, NamedJob
from ultracluster_spec.network import Network

STATE, PLACE, PORTS, FILES = checks_of(file_systems)
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


S3_FILES = "arn:aws:s3files:us-east-2:123456789012:file-system/fs-0123456789abcdef0"


def mounting(vpc_id: str | None, group: str | None = None) -> Part:
    """S3 Files that two jobs mount."""
    mount = Mount(source=S3_FILES, path="/cache", security_group_id=group)
    point = Mount(
        source=f"{S3_FILES}/access-point/fsap-0123456789abcdef0", path="/mine", security_group_id=group
    )
    jobs = tuple(NamedJob(name=name, image="x:1", mounts=(mount, point)) for name in ("one", "two"))
    network = Network(vpc_id=vpc_id, subnet_id=vpc_id and "subnet-1")
    assert FILES.code == "UC9482"
    (files,) = FILES.subjects(Account(clusters=(replace(CLUSTER, network=network, jobs=jobs),)))
    assert isinstance(files, Part)
    return files


HERE = {"availabilityZoneId": "use2-az3", "vpcId": "vpc-1"}
THERE = {"availabilityZoneId": "use2-az1", "vpcId": "vpc-1"}


@pytest.mark.parametrize(
    ("vpc_id", "group", "targets", "status"),
    [
        ("vpc-1", None, None, Status.FAIL),
        ("vpc-1", None, [], Status.PASS),
        ("vpc-1", None, [THERE], Status.PASS),
        ("vpc-1", None, [HERE], Status.WARN),
        ("vpc-1", "sg-1", [HERE], Status.PASS),
        ("vpc-1", "sg-1", [THERE], Status.FAIL),
        ("vpc-2", None, [THERE], Status.FAIL),
        (None, None, [], Status.PASS),
        (None, None, [THERE], Status.WARN),
    ],
)
def test_s3_files_exist_and_have_their_mount_target_or_room_for_it(
    vpc_id: str | None, group: str | None, targets: list[dict[str, str]] | None, status: Status
) -> None:
    assert FILES.evaluate(mounting(vpc_id, group), targets).status is status


def test_s3_files_that_do_not_exist_are_no_error_of_the_check() -> None:
    gone = Client({"list_mount_targets": error("ResourceNotFoundException")})
    assert FILES.gather(reads_of(gone), mounting(None)) is None
    with pytest.raises(ClientError):
        FILES.gather(reads_of(Client({"list_mount_targets": error("AccessDenied")})), mounting(None))
