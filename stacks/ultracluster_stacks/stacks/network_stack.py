"""The stack with the network of a cluster."""

import re
from typing import Any

import aws_cdk as cdk
from constructs import Construct

from ultracluster.network.cluster_network import define_network
from ultracluster_spec.cluster import Cluster


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


def existing_buckets(config: Cluster) -> list[str]:
    """Return the existing buckets that a cluster names, which can be of other accounts."""
    resources = (
        resource
        for job in config.jobs
        for statement in job.permissions.statements
        for resource in statement.resources
    )
    named = [re.match(r"arn:[^:]*:s3:::([a-z0-9.-]+)", resource) for resource in resources]
    existing = [bucket.bucket_name for _, bucket in config.buckets() if bucket.bucket_name]
    return [*existing, *(match[1] for match in named if match)]
