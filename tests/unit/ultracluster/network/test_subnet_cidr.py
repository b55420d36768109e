"""The subnet of the nodes has room for the cluster and for its growth."""

import ipaddress

import aws_cdk as cdk
import pytest
from tests.unit.ultracluster.builders import network, only

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
