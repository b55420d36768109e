"""The stack with the network of a cluster."""

from typing import Any

import aws_cdk as cdk
from constructs import Construct

from ultracluster.network.cluster_network import define_network
from ultracluster_spec.cluster import Cluster
from ultracluster_stacks.wiring.storage import existing_buckets


class NetworkStack(cdk.Stack):
    """VPC, subnet, endpoints and security group of the nodes; only the security group for an existing subnet."""

    def __init__(self, scope: Construct, construct_id: str, *, config: Cluster, **options: Any) -> None:
        """Define the stack; options are those of `aws_cdk.Stack`."""
        super().__init__(scope, construct_id, **options)
        self.network = define_network(
            self,
            "Network",
            config.network,
            zone_id=config.zone_id,
            instance_type=config.node_type,
            node_count=config.most_nodes,
            file_system_interfaces=config.file_system.subnet_addresses,
        )
        if policies := self.network.endpoint_policies:
            for bucket in existing_buckets(config):
                policies.allow_bucket(bucket)
