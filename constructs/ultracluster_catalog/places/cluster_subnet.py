"""What shares the one subnet of a cluster: nodes, their tasks, interface endpoints and the file system."""

from typing import Final

from ultracluster_catalog.machines.instance_type import InstanceType
from ultracluster_catalog.machines.nic_layouts import NicLayout, addresses_per_node, network_interfaces
from ultracluster_catalog.places.addresses import RESERVED_PER_SUBNET, subnet_addresses
from ultracluster_rules.findings import Finding, quote

__all__ = ["FILE_SYSTEM_ADDRESSES", "NODE_SERVICES", "check_available_addresses", "cluster_addresses"]

NODE_SERVICES: Final = (
    "ecr.api",
    "ecr.dkr",
    "ecs",
    "ecs-agent",
    "ecs-telemetry",
    "logs",
    "monitoring",
    "ssm",
    "ssmmessages",
)
"""What a node of AWS Batch on ECS calls: image pulls, the ECS agent's three endpoints, job logs, metrics, Session Manager.

From the guides of Amazon ECR, Amazon ECS, CloudWatch and Systems Manager on VPC endpoints, read 2026-10. The agent of
AL2023 needs no ec2messages. Image layers come through the gateway endpoint of S3, which takes no address.
"""

FILE_SYSTEM_ADDRESSES: Final = 128
"""Kept for the file system: enough for 100 object servers, so that storage may grow without a new subnet."""


def cluster_addresses(*, instance_type: InstanceType, nodes: int, nic_layout: NicLayout) -> int:
    """Count the addresses that the subnet of a cluster must have, including those that AWS keeps for itself.

    The one node of precompile jobs is not counted: it is gone before the nodes come, or has room in what is kept for
    the file system.

    Args:
        instance_type: Type of the nodes.
        nodes: Most nodes at one time, with one task of a multi-node job on each.
        nic_layout: Their layout of network interfaces.

    Raises:
        FindingsError: UC4002 for an unknown layout, UC4010 to UC4015 for interfaces that EC2 would refuse.
    """
    return subnet_addresses(
        nodes=nodes,
        addresses_per_node=addresses_per_node(network_interfaces(instance_type, nic_layout)),
        interface_endpoints=len(NODE_SERVICES),
        file_system_interfaces=FILE_SYSTEM_ADDRESSES,
    )


def check_available_addresses(
    *,
    instance_type: InstanceType,
    nodes: int,
    nic_layout: NicLayout,
    available_addresses: int,
    file_system_interfaces: int = FILE_SYSTEM_ADDRESSES,
) -> list[Finding]:
    """Find out whether an existing subnet still has the addresses that a cluster takes from it.

    Args:
        instance_type: Type of the nodes.
        nodes: Most nodes at one time, with one task of a multi-node job on each.
        nic_layout: Their layout of network interfaces.
        available_addresses: What EC2 calls AvailableIpAddressCount, which AWS's own addresses are no part of.
        file_system_interfaces: Addresses to keep for file systems that are yet to come. Default: 128, enough
            for 100 object servers.

    Returns:
        UC3002 when there are too few; empty when they suffice.

    Raises:
        FindingsError: UC3001 for a negative count, or what `cluster_addresses` raises.
    """
    per_node = addresses_per_node(network_interfaces(instance_type, nic_layout))
    needed = (
        subnet_addresses(
            nodes=nodes, addresses_per_node=per_node, file_system_interfaces=file_system_interfaces
        )
        - RESERVED_PER_SUBNET
    )
    if needed <= available_addresses:
        return []
    return [
        Finding(
            code="UC3002",
            path="available_addresses",
            problem=f"{nodes} nodes with {per_node} addresses and a task each, and {file_system_interfaces} "
            f"addresses for file systems, need {needed}; got {quote(available_addresses)}",
            allowed=f"{needed} or more free addresses",
            remedy="Use a larger subnet, fewer nodes, or the layout batch, which takes one address a node",
        )
    ]
