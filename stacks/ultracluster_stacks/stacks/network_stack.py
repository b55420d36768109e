"""The stack with the network of a cluster."""

from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from ultracluster import ClusterNetwork
from ultracluster_spec.cluster import Cluster
from ultracluster_stacks.wiring.storage import existing_buckets, security_group


class NetworkStack(cdk.Stack):
    """VPC, subnet, endpoints and security group of the nodes; only the security group for an existing subnet."""

    def __init__(self, scope: Construct, construct_id: str, *, config: Cluster, **options: Any) -> None:
        """Define the stack; options are those of `aws_cdk.Stack`."""
        super().__init__(scope, construct_id, **options)
        self.network = self._existing(config) or ClusterNetwork(
            self,
            "Network",
            zone_id=config.zone_id,
            instance_type=config.machine,
            node_count=config.most_nodes,
            nic_layout=config.network.layout,
            cidr=config.network.cidr,
            subnet_prefix=config.network.subnet_prefix,
            nat_gateway=config.network.nat_gateway,
            endpoints=config.network.endpoints,
            limit_endpoints=config.network.limit_endpoints,
        )
        if policies := self.network.endpoint_policies:
            for account in config.network.allowed_accounts:
                policies.allow_account(account)
            for bucket in existing_buckets(config):
                policies.allow_bucket(bucket)

    def _existing(self, config: Cluster) -> ClusterNetwork | None:
        settings = config.network
        if settings.vpc_id is None or settings.subnet_id is None:
            return None
        return ClusterNetwork.from_subnet(
            self,
            "Network",
            # The zone's name differs between accounts and is unknown; nothing uses it.
            vpc=ec2.Vpc.from_vpc_attributes(
                self, "Vpc", vpc_id=settings.vpc_id, availability_zones=[config.zone_id]
            ),
            subnet=ec2.Subnet.from_subnet_id(self, "Subnet", settings.subnet_id),
            zone_id=config.zone_id,
            instance_type=config.machine,
            node_count=config.most_nodes,
            nic_layout=settings.layout,
            available_addresses=settings.available_addresses,
            file_system_interfaces=config.file_system.subnet_addresses,
            security_group=security_group(self, "SecurityGroup", settings.security_group_id),
            add_efa_rules=settings.add_efa_rules,
            default_security_group=security_group(
                self, "DefaultSecurityGroup", settings.default_security_group_id
            ),
        )
