"""The stack with the network of a cluster."""

from typing import Any

import aws_cdk as cdk
from constructs import Construct

from ultracluster import ClusterNetwork
from ultracluster_stacks.config import ClusterConfig

__all__ = ["NetworkStack"]


class NetworkStack(cdk.Stack):
    """VPC, subnet, endpoints and the security group of the nodes."""

    def __init__(self, scope: Construct, construct_id: str, *, config: ClusterConfig, **options: Any) -> None:
        """Define the stack.

        Args:
            scope: Where to add it.
            construct_id: Its id there.
            config: The cluster.
            **options: Of `aws_cdk.Stack`.
        """
        super().__init__(scope, construct_id, **options)
        self.network = ClusterNetwork(
            self,
            "Network",
            zone_id=config.zone_id,
            instance_type=config.instance_type,
            node_count=config.nodes,
            nic_layout=config.network.nic_layout,
            cidr=config.network.cidr,
            prefix=config.network.subnet_prefix,
        )
