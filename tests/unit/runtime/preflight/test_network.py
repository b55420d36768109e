"""Existing subnets: what no case of test_preflight_on_local_aws.py shows of place, addresses, routes and rules."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from tests.unit.runtime.preflight.preflight_cases import CLUSTER, Client, error, reads_of

from ultracluster_runtime.preflight import network
from ultracluster_runtime.preflight.check import Status, checks_of
from ultracluster_runtime.preflight.network import Routes, TaskNetwork
from ultracluster_runtime.preflight.subjects import Part
from ultracluster_spec.file_system import FileSystem
from ultracluster_spec.network import Network

PLACE, ADDRESSES, _, S3, SERVICES, _, TASKS, _, GROUP = checks_of(network)
NETWORK = Network(vpc_id="vpc-1", subnet_id="subnet-1", security_group_id="sg-1")
SYSTEM = FileSystem(file_system_id="fs-1", mount_name="abc")


def subnet(**changes: Any) -> Part:
    """The subnet of a cluster of 40 nodes, whose network is otherwise."""
    network = replace(NETWORK, **changes)
    return Part(cluster=replace(CLUSTER, nodes=40, network=network, file_system=SYSTEM), name="subnet-1")


SUBNET = subnet()
NO_ROUTES = Routes(default=None, gateways=frozenset(), endpoints=frozenset(), without_private_dns=frozenset())
TO_ITSELF = [{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": "sg-1"}]}]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"VpcId": "vpc-2"}, "it belongs to vpc-2"),
        ({"State": "pending"}, "it is pending"),
    ],
)
def test_subnet_must_be_where_the_rollout_expects_it(changes: dict[str, str], words: str) -> None:
    outcome = PLACE.evaluate(SUBNET, {"AvailabilityZoneId": "use2-az3", "VpcId": "vpc-1"} | changes)

    assert outcome.status is Status.FAIL
    assert words in outcome.evidence


def test_missing_subnet_fails() -> None:
    client = Client({"describe_subnets": error("InvalidSubnetID.NotFound")})
    found = PLACE.gather(reads_of(client), SUBNET)

    assert PLACE.evaluate(SUBNET, found).status is Status.FAIL


@pytest.mark.parametrize(
    ("free", "deployed", "status"),
    [(80, False, Status.PASS), (79, False, Status.FAIL), (79, True, Status.WARN)],
)
def test_subnet_needs_an_address_for_each_interface(free: int, deployed: bool, status: Status) -> None:
    assert ADDRESSES.evaluate(SUBNET, (free, deployed)).status is status


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"gateways": frozenset({"dynamodb"})}, Status.FAIL),
        ({"endpoints": frozenset({"s3"})}, Status.WARN),
        ({"default": "igw-1"}, Status.FAIL),
    ],
)
def test_s3_is_best_reached_through_a_gateway_endpoint(changes: dict[str, Any], status: Status) -> None:
    assert S3.evaluate(SUBNET, replace(NO_ROUTES, **changes)).status is status


def test_an_internet_gateway_is_no_route_without_public_addresses() -> None:
    outcome = SERVICES.evaluate(SUBNET, replace(NO_ROUTES, default="igw-1"))

    assert outcome.status is Status.FAIL
    assert "of no use without public addresses" in outcome.evidence


@pytest.mark.parametrize(
    ("inbound", "outbound", "adds", "status"),
    [
        (TO_ITSELF, TO_ITSELF, False, Status.PASS),
        (TO_ITSELF, [], False, Status.FAIL),
        ([], [], False, Status.FAIL),
        ([], [], True, Status.PASS),
        (TO_ITSELF, [], True, Status.FAIL),
        (TO_ITSELF, [{"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}], False, Status.FAIL),
        (TO_ITSELF, [TO_ITSELF[0] | {"IpProtocol": "tcp"}], False, Status.FAIL),
    ],
)
def test_group_needs_both_rules_for_efa_exactly_once(
    inbound: Any, outbound: Any, adds: bool, status: Status
) -> None:
    group = {
        "GroupId": "sg-1",
        "VpcId": "vpc-1",
        "IpPermissions": inbound,
        "IpPermissionsEgress": outbound,
    }

    assert GROUP.evaluate(subnet(add_efa_rules=adds), group).status is status


def test_group_of_another_vpc_fails() -> None:
    outcome = GROUP.evaluate(SUBNET, {"GroupId": "sg-1", "VpcId": "vpc-2"})

    assert (outcome.status, outcome.evidence) == (Status.FAIL, "it belongs to vpc-2; the subnet to vpc-1")


ALL_OUT = [{"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}]
HTTPS_OUT = [{"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}]


def tasks(inbound: list[Any], outbound: list[Any], *closed: str) -> TaskNetwork:
    group = {"GroupId": "sg-1", "IpPermissions": inbound, "IpPermissionsEgress": outbound}
    return TaskNetwork(group=group, closed_endpoints=closed)


@pytest.mark.parametrize(
    ("network", "mended", "words"),
    [
        (tasks(TO_ITSELF, ALL_OUT), None, ""),
        (tasks(TO_ITSELF, [*TO_ITSELF, *HTTPS_OUT]), None, ""),
        (tasks([], []), "sg-1", ""),
        (tasks([], ALL_OUT), None, "lacks all traffic in from itself"),
        (tasks(TO_ITSELF, HTTPS_OUT), None, "lacks all traffic out to itself"),
        (tasks(TO_ITSELF, TO_ITSELF), None, "lacks HTTPS out"),
        (tasks([], []), None, "sg-1, the default group, lacks all traffic in from itself, all"),
        (tasks([], ALL_OUT), "sg-1", "EC2 rejects a duplicate"),
        (tasks([], []), "sg-2", "the default group of vpc-1 is sg-1; the rollout says sg-2"),
        (tasks(TO_ITSELF, ALL_OUT, "logs"), None, "endpoints do not let it in on port 443: logs"),
        (tasks([], [], "logs"), "sg-1", "endpoints do not let it in on port 443: logs"),
        (TaskNetwork(group=None, closed_endpoints=()), None, "vpc-1 shows no default group"),
    ],
)
def test_tasks_need_the_default_group_and_the_endpoints(
    network: TaskNetwork, mended: str | None, words: str
) -> None:
    outcome = TASKS.evaluate(subnet(default_security_group_id=mended), network)
    assert outcome.status is (Status.FAIL if words else Status.PASS)
    assert words in outcome.evidence


@pytest.mark.parametrize(
    ("rule", "closed"),
    [
        ({"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": "sg-default"}]}, ()),
        ({"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "IpRanges": [{"CidrIp": "10.0.0.0/8"}]}, ()),
        (
            {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "IpRanges": [{"CidrIp": "10.1.0.0/16"}]},
            ("logs",),
        ),
        (
            {
                "IpProtocol": "tcp",
                "FromPort": 80,
                "ToPort": 80,
                "UserIdGroupPairs": [{"GroupId": "sg-default"}],
            },
            ("logs",),
        ),
        (
            {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "UserIdGroupPairs": [{"GroupId": "sg-9"}]},
            ("logs",),
        ),
    ],
)
def test_endpoints_admit_tasks_by_their_group_or_their_addresses(
    rule: dict[str, Any], closed: tuple[str, ...]
) -> None:
    groups = [
        {"GroupId": "sg-default", "GroupName": "default"},
        {"GroupId": "sg-endpoint", "GroupName": "endpoint", "IpPermissions": [rule]},
    ]
    endpoint = {
        "ServiceName": "com.amazonaws.us-east-2.logs",
        "VpcEndpointType": "Interface",
        "Groups": [{"GroupId": "sg-endpoint"}],
    }
    lists = {"ec2:DescribeSecurityGroups": groups, "ec2:DescribeVpcEndpoints": [endpoint]}
    subnets = {"Subnets": [{"CidrBlock": "10.0.0.0/20"}]}
    reader = SimpleNamespace(
        list_all=lambda call, _region, _member, **_: lists[call],
        call_or_none=lambda *_, **__: subnets,
        find=lambda *_, **__: subnets["Subnets"][0],
    )
    assert TASKS.gather(reader, SUBNET).closed_endpoints == closed
