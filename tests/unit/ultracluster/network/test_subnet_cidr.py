"""The subnet of the nodes has room for the cluster and for its growth."""

import ipaddress

import aws_cdk as cdk
import pytest
from tests.unit.ultracluster.builders import network, only

from ultracluster_spec.findings import FindingsError

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("node_count", "nic_layout", "prefix"),
    [
        (4, "batch", 20),
        # 4,096 addresses less AWS's 5, 9 endpoints and 128 for the file system are 3,954: two for each node.
        (1000, "batch", 20),
        (1977, "batch", 20),
        (1978, "batch", 19),
        # 17 for each node with all-efa.
        (232, "all-efa", 20),
        (233, "all-efa", 19),
    ],
)
def test_the_subnet_holds_all_addresses_and_stays_the_same_while_the_cluster_grows(
    stack: cdk.Stack, node_count: int, nic_layout: str, prefix: int | None
) -> None:
    network(stack, node_count=node_count, nic_layout=nic_layout)
    subnet = ipaddress.ip_network(only(stack, "AWS::EC2::Subnet")["CidrBlock"])
    assert subnet.prefixlen == prefix


def test_takes_a_chosen_prefix_that_is_large_enough(stack: cdk.Stack) -> None:
    network(stack, subnet_prefix=23)
    assert only(stack, "AWS::EC2::Subnet")["CidrBlock"] == "10.0.0.0/23"


@pytest.mark.parametrize(
    ("cidr", "prefix"), [("10.0.0.0/16", 25), ("10.0.0.0/25", None), ("10.0.0.0/20", 19)]
)
def test_rejects_a_subnet_that_does_not_hold_the_cluster(
    stack: cdk.Stack, cidr: str, prefix: int | None
) -> None:
    with pytest.raises(FindingsError, match="UC3105"):
        network(stack, cidr=cidr, subnet_prefix=prefix)


@pytest.mark.parametrize("cidr", ["10.0.0.7/16", "10.0.0.0/33", "ten", "fd00::/56"])
def test_rejects_anything_but_an_ipv4_network(stack: cdk.Stack, cidr: str) -> None:
    with pytest.raises(FindingsError, match="UC3103"):
        network(stack, cidr=cidr)
