"""Rows 40 to 50: the network."""

from collections.abc import Callable

import pytest
from tests.unit.bad_inputs.rows import Row, refused, taken
from tests.unit.stacks.config.conftest import VALID

ROWS = [
    refused(40, "the network 10.0.0.0/33", [("10.0.0.0/16", "10.0.0.0/33")], "UC3103 18 @.network.cidr"),
    refused(40, "the network 10.0.0.0/8", [("10.0.0.0/16", "10.0.0.0/8")], "UC3103 18 @.network.cidr"),
    refused(40, "the network ten", [("10.0.0.0/16", "ten")], "UC3103 18 @.network.cidr"),
    refused(40, "the network 10.0.0.0/29", [("10.0.0.0/16", "10.0.0.0/29")], "UC3103 18 @.network.cidr"),
    refused(41, "the network 10.0.0.7/16", [("10.0.0.0/16", "10.0.0.7/16")], "UC3103 18 @.network.cidr"),
    taken(41, "the network 8.8.0.0/16", [("10.0.0.0/16", "8.8.0.0/16")], "UC3104 18 @.network.cidr"),
    refused(
        41, "the network 169.254.0.0/16", [("10.0.0.0/16", "169.254.0.0/16")], "UC3103 18 @.network.cidr"
    ),
    taken(41, "the network 100.64.0.0/16", [("10.0.0.0/16", "100.64.0.0/16")], "UC3104 18 @.network.cidr"),
    taken(41, "the network 172.17.0.0/16", [("10.0.0.0/16", "172.17.0.0/16")], "UC3104 18 @.network.cidr"),
    refused(
        42,
        "a subnet that is larger than its VPC",
        [("10.0.0.0/16", "10.0.0.0/18, subnet_prefix: 17")],
        "UC3105 18 @.network.subnet_prefix",
    ),
    refused(
        42,
        "a subnet and a NAT gateway in one /28",
        [("10.0.0.0/16", "10.0.0.0/24, nat_gateway: true, subnet_prefix: 24")],
        "UC3105 18 @.network.subnet_prefix",
    ),
    refused(
        44,
        "64 nodes with 16 addresses in a /22",
        [("nodes: 4", "nodes: 64"), ("{cidr: 10.0.0.0/16", "{nic_layout: all-efa, cidr: 10.0.0.0/22")],
        "UC3105 18 @.network.cidr",
    ),
    taken(
        44,
        "the same with one address a node, which fits",
        [("nodes: 4", "nodes: 64"), ("10.0.0.0/16", "10.0.0.0/22")],
    ),
    taken(
        43,
        "one network in two Regions, which are never connected",
        VALID
        + "      - {name: more, region: us-west-2, zone_id: usw2-az4, instance_type: trn1.32xlarge, nodes: 4, "
        "image_id: ami-0123456789abcdef1, capacity: {market_type: on-demand}, network: {cidr: 10.0.0.0/16}}\n",
    ),
    refused(
        45,
        "two subnets",
        [
            (
                "network: {cidr: 10.0.0.0/16}",
                "network: {vpc_id: vpc-0123456789abcdef0, subnet_id: [subnet-0123456789abcdef0, subnet-0123456789abcdef1]}",
            )
        ],
        "UC1022 18 @.network.subnet_id",
    ),
    taken(
        43,
        "one network in two Regions, which are never connected",
        VALID
        + "      - {name: more, region: us-west-2, zone_id: usw2-az4, instance_type: trn1.32xlarge, nodes: 4, "
        "image_id: ami-0123456789abcdef1, capacity: {market_type: on-demand}, network: {cidr: 10.0.0.0/16}}\n",
    ),
    refused(45, "two zones", [("zone_id: use2-az3", "zone_id: [use2-az3, use2-az1]")], "UC1022 10 @.zone_id"),
    refused(
        46,
        "public addresses for nodes",
        [("10.0.0.0/16", "10.0.0.0/16, map_public_ip: true")],
        "UC1020 18 @.network.map_public_ip",
    ),
    refused(
        49,
        "a group that is open to the world",
        [("10.0.0.0/16", "10.0.0.0/16, allow_world: true")],
        "UC1020 18 @.network.allow_world",
    ),
]


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_reacts(reaction: Callable[[str | bytes], tuple[int, tuple[str, ...]]], row: Row) -> None:
    assert reaction(row.text) == (row.exit_code, row.reaction)
