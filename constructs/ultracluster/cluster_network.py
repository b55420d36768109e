"""The network of a cluster: one private subnet in the zone of its capacity, and no way out."""

import ipaddress
import re

import jsii
from aws_cdk import Stack
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from ultracluster_catalog.addresses import subnet_prefix
from ultracluster_catalog.cluster_subnet import NODE_SERVICES, cluster_addresses
from ultracluster_catalog.findings import Finding, FindingsError, quote
from ultracluster_catalog.instance_types import get_instance_type

__all__ = ["ClusterNetwork"]

# Changing a subnet's size replaces it, and the file system inside it. A /20 costs nothing more than a small
# subnet and leaves room for about two thousand nodes of the batch layout.
_LARGEST_DEFAULT_PREFIX = 20

_HTTPS = 443


@jsii.implements(ec2.IConnectable)
class ClusterNetwork(Construct):
    """A VPC with one private subnet in one Availability Zone, reached by endpoints only.

    EFA traffic cannot leave an Availability Zone, so there is one subnet. There is no NAT gateway and no
    internet gateway: nodes reach AWS services through interface endpoints and S3 through a gateway endpoint.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        zone_id: str,
        instance_type: str,
        node_count: int,
        nic_layout: str = "batch",
        cidr: str = "10.0.0.0/16",
        prefix: int | None = None,
    ) -> None:
        """Define the network.

        Args:
            scope: Where to add it.
            construct_id: Its id there.
            zone_id: Zone id of the Availability Zone of the capacity, such as ``use2-az3``.
            instance_type: Type of the nodes, such as ``trn2.48xlarge``.
            node_count: Most nodes at one time.
            nic_layout: Network interface layout of the nodes. Default: ``batch``, one address per node and
                one per multi-node task.
            cidr: Addresses of the VPC, /16 to /28. Default: ``10.0.0.0/16``.
            prefix: Prefix length of the subnet. Default: /20, or larger where the nodes need more addresses.

        Raises:
            FindingsError: If the type or layout is unknown, the CIDR is no network address (UC3103), or the
                nodes do not fit (UC3105).
        """
        needed = cluster_addresses(
            instance_type=get_instance_type(instance_type), nodes=node_count, nic_layout=nic_layout
        )
        subnet_cidr = _subnet_cidr(cidr, needed, prefix)
        super().__init__(scope, construct_id)
        self._zone_id = zone_id

        vpc = ec2.CfnVPC(self, "Vpc", cidr_block=cidr, enable_dns_hostnames=True, enable_dns_support=True)
        subnet = ec2.CfnSubnet(
            self,
            "Subnet",
            vpc_id=vpc.ref,
            cidr_block=subnet_cidr,
            availability_zone_id=zone_id,
            map_public_ip_on_launch=False,
        )
        routes = ec2.CfnRouteTable(self, "RouteTable", vpc_id=vpc.ref)
        ec2.CfnSubnetRouteTableAssociation(
            self, "RouteTableAssociation", route_table_id=routes.ref, subnet_id=subnet.ref
        )
        self._subnet_id = subnet.ref
        self._vpc = ec2.Vpc.from_vpc_attributes(
            self,
            "ImportedVpc",
            vpc_id=vpc.ref,
            vpc_cidr_block=cidr,
            availability_zones=[subnet.attr_availability_zone],
            isolated_subnet_ids=[subnet.ref],
            isolated_subnet_route_table_ids=[routes.ref],
        )
        self._security_group = self._define_security_group()
        self._define_endpoints(vpc.ref, subnet.ref, routes.ref)

    def _define_security_group(self) -> ec2.SecurityGroup:
        group = ec2.SecurityGroup(
            self,
            "SecurityGroup",
            vpc=self._vpc,
            description="Nodes of the cluster: EFA among themselves, HTTPS to AWS services",
            allow_all_outbound=False,
        )
        # EFA traffic is let through only by rules that name the group itself, in both directions; a CIDR does
        # not count. With allow_all_outbound the CDK would silently drop the outbound half.
        group_id = group.security_group_id
        ec2.CfnSecurityGroupIngress(
            self,
            "EfaIngress",
            group_id=group_id,
            source_security_group_id=group_id,
            ip_protocol="-1",
            description="EFA from the nodes of the cluster",
        )
        ec2.CfnSecurityGroupEgress(
            self,
            "EfaEgress",
            group_id=group_id,
            destination_security_group_id=group_id,
            ip_protocol="-1",
            description="EFA to the nodes of the cluster",
        )
        # The route table knows the VPC and S3 only, so "anywhere" ends there.
        group.add_egress_rule(ec2.Peer.any_ipv4(), ec2.Port.tcp(_HTTPS), "AWS services through endpoints")
        return group

    def _define_endpoints(self, vpc_id: str, subnet_id: str, route_table_id: str) -> None:
        region = Stack.of(self).region
        ec2.CfnVPCEndpoint(
            self,
            "S3",
            vpc_id=vpc_id,
            service_name=f"com.amazonaws.{region}.s3",
            vpc_endpoint_type="Gateway",
            route_table_ids=[route_table_id],
        )
        group = ec2.SecurityGroup(
            self,
            "EndpointSecurityGroup",
            vpc=self._vpc,
            description="Interface endpoints of the cluster: HTTPS from its nodes",
            allow_all_outbound=False,
        )
        group.add_ingress_rule(self._security_group, ec2.Port.tcp(_HTTPS), "HTTPS from the nodes")
        group_id = group.security_group_id
        for service in NODE_SERVICES:
            ec2.CfnVPCEndpoint(
                self,
                "".join(part.capitalize() for part in re.split("[.-]", service)),
                vpc_id=vpc_id,
                service_name=f"com.amazonaws.{region}.{service}",
                vpc_endpoint_type="Interface",
                subnet_ids=[subnet_id],
                security_group_ids=[group_id],
                private_dns_enabled=True,
            )

    @property
    def connections(self) -> ec2.Connections:
        """Connections of the nodes' security group."""
        return self._security_group.connections

    @property
    def security_group(self) -> ec2.ISecurityGroup:
        """Security group of the nodes, of their tasks and of every EFA interface."""
        return self._security_group

    @property
    def subnet_id(self) -> str:
        """The one subnet."""
        return self._subnet_id

    @property
    def vpc(self) -> ec2.IVpc:
        """The VPC."""
        return self._vpc

    @property
    def zone_id(self) -> str:
        """Zone id of the Availability Zone."""
        return self._zone_id


def _subnet_cidr(cidr: str, needed: int, prefix: int | None) -> str:
    try:
        network = ipaddress.IPv4Network(cidr)
    except ValueError:
        raise FindingsError(
            [
                Finding(
                    code="UC3103",
                    problem=f"got {quote(cidr)}",
                    allowed="a network address with a prefix of /16 to /28 and no host bits, such as 10.0.0.0/16",
                    path="cidr",
                )
            ]
        ) from None
    chosen = prefix
    if chosen is None:
        chosen = max(network.prefixlen, min(_LARGEST_DEFAULT_PREFIX, subnet_prefix(needed)))
    size = 2 ** (32 - chosen)
    if chosen < network.prefixlen or size < needed:
        raise FindingsError(
            [
                Finding(
                    code="UC3105",
                    problem=f"the nodes, their tasks, the endpoints and the file system need {needed} addresses, "
                    f"but the subnet would be a /{chosen} with {size} in {network}",
                    remedy="Give a larger cidr, fewer nodes, or the batch layout, which takes one address a node",
                    path="cidr",
                )
            ]
        )
    return str(next(network.subnets(new_prefix=chosen)))
