"""What shares the one subnet of a cluster: nodes, their tasks, interface endpoints and the file system."""

from typing import Final

from ultracluster_catalog.addresses import subnet_addresses
from ultracluster_catalog.instance_types import InstanceType
from ultracluster_catalog.nic_layouts import addresses_per_node, network_interfaces

__all__ = ["FILE_SYSTEM_ADDRESSES", "NODE_SERVICES", "cluster_addresses"]

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


def cluster_addresses(*, instance_type: InstanceType, nodes: int, nic_layout: str) -> int:
    """Count the addresses that the subnet of a cluster must have, including those that AWS keeps for itself.

    Args:
        instance_type: Type of the nodes.
        nodes: Most nodes at one time, with one task of a multi-node job on each.
        nic_layout: Their layout of network interfaces.

    Raises:
        FindingsError: UC4002 for an unknown layout.
    """
    return subnet_addresses(
        nodes=nodes,
        addresses_per_node=addresses_per_node(network_interfaces(instance_type, nic_layout)),
        interface_endpoints=len(NODE_SERVICES),
        file_system_interfaces=FILE_SYSTEM_ADDRESSES,
    )
