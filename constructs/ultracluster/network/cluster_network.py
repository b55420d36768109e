"""The network of a cluster: one private subnet in the Availability Zone of its capacity, new or existing."""

import ipaddress
import re
import sys
from collections import Counter
from collections.abc import Sequence

import jsii
from aws_cdk import CfnResource, RemovalPolicy, Stack
from aws_cdk import aws_ec2 as ec2
from constructs import Construct, IConstruct

from ultracluster._foundation.annotations import warn
from ultracluster._foundation.instance_types import AnyInstanceType, instance_type_of
from ultracluster._foundation.synthesis_check import check_at_synthesis
from ultracluster._foundation.tokens import check_known, is_known
from ultracluster.network.endpoint_policies import EndpointPolicies
from ultracluster.network.group_rules import add_efa_rules, add_task_rules
from ultracluster.network.nat_gateway import define_nat_gateway
from ultracluster.network.subnet_cidr import public_subnet_cidr, subnet_cidr
from ultracluster_catalog.machines.instance_type import InstanceType
from ultracluster_catalog.machines.nic_layouts import NetworkInterface, NicLayout
from ultracluster_catalog.places.addresses import RESERVED_PER_SUBNET
from ultracluster_catalog.places.cluster_subnet import FILE_SYSTEM_ADDRESSES, NODE_SERVICES
from ultracluster_catalog.places.zones import REGIONS, region_of_zone_id
from ultracluster_spec.arguments import validate_arguments
from ultracluster_spec.findings import Finding, FindingsError, is_token, quote, reject, require
from ultracluster_spec.network import (
    NETWORK_RULES,
    Network,
    check_available_addresses,
    check_endpoints,
    check_zone_id,
    check_zone_region,
    cluster_addresses,
    network_interfaces,
    warn_of_unknown_efa_rules,
)
from ultracluster_spec.values import wrong_types

_HTTPS = 443


@jsii.implements(ec2.IConnectable)
class ClusterNetwork(Construct):
    """A VPC with one private subnet in one Availability Zone, connected to AWS services by VPC endpoints.

    EFA traffic cannot leave an Availability Zone, so there is one subnet. By default there is no NAT gateway and no
    internet gateway: nodes reach AWS services through interface endpoints, and S3 through a gateway endpoint.
    """

    endpoint_policies: EndpointPolicies | None
    """Policies of the endpoints, to allow further buckets and accounts; None if they are open or of an existing VPC."""
    security_group: ec2.ISecurityGroup
    """Security group of the nodes and of every EFA interface.

        Tasks of multi-node jobs have the default group of the VPC on the interface of their own.
        """
    services: tuple[str, ...] | None
    """Services that nodes reach through endpoints; None with a NAT gateway or an existing subnet."""
    subnet: ec2.ISubnet
    """Subnet of the nodes."""
    subnet_id: str
    """ID of the subnet."""
    tasks_group_id: str | None
    """ID of the default group of the VPC, which tasks of multi-node jobs have; None if it is not known."""
    vpc: ec2.IVpc
    """The VPC."""
    vpc_id: str
    """ID of the VPC."""
    zone_id: str
    """Availability Zone ID."""

    @validate_arguments
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        zone_id: str,
        instance_type: AnyInstanceType,
        node_count: int,
        nic_layout: NicLayout = "batch",
        cidr: str = "10.0.0.0/16",
        subnet_prefix: int | None = None,
        nat_gateway: bool = False,
        endpoints: Sequence[str] = (),
        limit_endpoints: bool | None = None,
    ) -> None:
        """Define the network.

        Args:
            zone_id: Availability Zone ID of the capacity, such as ``use2-az3``.
            instance_type: Type of the nodes, such as ``trn2.48xlarge``, or a custom `InstanceType`.
            node_count: Maximum number of nodes at one time.
            nic_layout: Network interface layout of the nodes: ``batch``, ``ec2-guide``, ``all-efa``, or a sequence of
                network interfaces. Default: ``batch``, one address per node and one per multi-node task.
            cidr: CIDR block of the VPC, /16 to /28. Default: ``10.0.0.0/16``.
            subnet_prefix: Prefix length of the subnet. Default: /20, or shorter if the nodes need more addresses.
            nat_gateway: Whether to create a NAT gateway, in a public /28 subnet at the end of the VPC, for HTTPS
                access to the internet. Default: False.
            endpoints: Further services to create interface endpoints for, such as ``secretsmanager``; each is billed by the
                hour. Default: those that nodes use, and S3.
            limit_endpoints: Whether endpoints have policies, see `endpoint_policies`. Default: True without a NAT gateway, which
                leads past them.

        Raises:
            FindingsError: If the instance type or layout is unknown, EC2 would reject the interfaces (UC4010 to UC4015),
                the CIDR is not a network address (UC3103), the nodes do not fit (UC3105), or the zone does not exist or is
                in another Region than the stack (UC3003, UC3102).
        """
        reject(check_zone(scope, zone_id))
        node_type = instance_type_of(instance_type)
        reject(check_endpoints(endpoints, path="endpoints"))
        needed = cluster_addresses(
            instance_type=node_type, nodes=node_count, nic_layout=nic_layout, endpoints=len(endpoints)
        )
        nodes_cidr = subnet_cidr(cidr, needed, subnet_prefix, nat_gateway=nat_gateway)
        super().__init__(scope, construct_id)
        check_at_synthesis(self)
        self._place: tuple[CfnResource, ...]
        is_limited = not nat_gateway if limit_endpoints is None else limit_endpoints
        self.endpoint_policies = EndpointPolicies(self) if is_limited else None
        self.zone_id = zone_id
        self.services: tuple[str, ...] | None = None if nat_gateway else (*NODE_SERVICES, "s3", *endpoints)
        self._instance_type = node_type
        self._nic_layout = nic_layout

        vpc = ec2.CfnVPC(self, "Vpc", cidr_block=cidr, enable_dns_hostnames=True, enable_dns_support=True)
        self.node.default_child = vpc
        self.vpc_id = vpc.ref
        subnet = ec2.CfnSubnet(
            self,
            "Subnet",
            vpc_id=self.vpc_id,
            cidr_block=nodes_cidr,
            availability_zone_id=zone_id,
            map_public_ip_on_launch=False,
        )
        self.subnet_id = subnet.ref
        self._place = (vpc, subnet)
        route_table_id = ec2.CfnRouteTable(self, "RouteTable", vpc_id=self.vpc_id).ref
        ec2.CfnSubnetRouteTableAssociation(
            self, "RouteTableAssociation", route_table_id=route_table_id, subnet_id=self.subnet_id
        )
        ids, tables = [self.subnet_id], [route_table_id]
        self.vpc = ec2.Vpc.from_vpc_attributes(
            self,
            "ImportedVpc",
            vpc_id=self.vpc_id,
            vpc_cidr_block=cidr,
            availability_zones=[subnet.attr_availability_zone],
            isolated_subnet_ids=None if nat_gateway else ids,
            isolated_subnet_route_table_ids=None if nat_gateway else tables,
            private_subnet_ids=ids if nat_gateway else None,
            private_subnet_route_table_ids=tables if nat_gateway else None,
        )
        self.subnet: ec2.ISubnet = (self.vpc.private_subnets or self.vpc.isolated_subnets)[0]
        nodes = self._define_security_group()
        self.security_group: ec2.ISecurityGroup = nodes
        # The interface of a multi-node task has the VPC's default group (decision 0018). EC2 makes that group with the
        # rules that tasks need among themselves: all from itself, all out. A rule of ours would be its duplicate.
        self.tasks_group_id = vpc.attr_default_security_group
        self._define_endpoints(
            route_table_id,
            nodes,
            services=(*NODE_SERVICES, *endpoints),
            tasks_group_id=self.tasks_group_id,
        )
        if nat_gateway:
            define_nat_gateway(
                self,
                vpc_id=self.vpc_id,
                public_cidr=public_subnet_cidr(cidr),
                zone_id=zone_id,
                route_table_id=route_table_id,
            )

    @classmethod
    @validate_arguments
    def from_subnet(
        cls,
        scope: Construct,
        construct_id: str,
        *,
        vpc: ec2.IVpc,
        subnet: ec2.ISubnet | ec2.SubnetSelection | None = None,
        zone_id: str,
        instance_type: AnyInstanceType,
        node_count: int,
        nic_layout: NicLayout = "batch",
        available_addresses: int | None = None,
        file_system_interfaces: int = FILE_SYSTEM_ADDRESSES,
        security_group: ec2.ISecurityGroup | None = None,
        add_efa_rules: bool = False,
        default_security_group: ec2.ISecurityGroup | None = None,
    ) -> "ClusterNetwork":
        """Use a private subnet of an existing VPC, of the same app or imported.

        The subnet must not assign public addresses, which EC2 rejects for instances with several interfaces. It must
        reach the AWS services that nodes use (`ultracluster_catalog.places.cluster_subnet.NODE_SERVICES` and S3) through
        a NAT gateway or through endpoints that admit the security group of the nodes; none are created here.

        Args:
            vpc: VPC, for example an ``ec2.Vpc``, or one from ``ec2.Vpc.from_lookup`` or ``from_vpc_attributes``.
            subnet: Subnet, for example from ``ec2.Subnet.from_subnet_id``, or a selection of one. Default: the private subnet
                of the VPC, if it has one only.
            zone_id: Availability Zone ID of the subnet, such as ``use2-az3``. The CDK knows the zone's name only, which
                means another zone in each account; `ultracluster preflight` compares them.
            instance_type: Type of the nodes, such as ``trn2.48xlarge``, or a custom `InstanceType`.
            node_count: Maximum number of nodes at one time.
            nic_layout: Network interface layout of the nodes. Default: ``batch``.
            available_addresses: AvailableIpAddressCount of the subnet, to check against the nodes, their tasks and the
                file systems. Default: all of a subnet of the same app; otherwise not checked.
            file_system_interfaces: Number of addresses to reserve for new file systems; 0 if there are none.
                Default: 128.
            security_group: Security group of the nodes. Default: a new one.
            add_efa_rules: Whether to add the two rules that EFA needs to `security_group`. EC2 rejects a duplicate
                rule. Default: False, with a warning that the rules must exist.
            default_security_group: Default security group of the VPC, which the network interface of a multi-node task
                takes, to add the rules that tasks need: all traffic with itself, and HTTPS out. EC2 rejects a duplicate
                rule. Default: none are added; an `ec2.Vpc` of the same app has them, and of others a warning says that they must
                exist.

        Raises:
            FindingsError: If the instance type or layout is unknown, EC2 would reject the interfaces (UC4010 to UC4015),
                there are too few available addresses (UC3002), the selection is not of one private subnet (UC3113), or the
                CDK empties the default security group of the VPC and nothing fills it (UC3260).
        """
        reject(check_zone(scope, zone_id))
        node_type = instance_type_of(instance_type)
        if subnet is None or isinstance(subnet, ec2.SubnetSelection):
            subnet = private_subnet(vpc, subnet)
        if available_addresses is None:
            available_addresses = _addresses_of(subnet)
        reject(check_default_group(vpc, path="vpc") if default_security_group is None else ())
        reject(
            check_available_addresses(
                instance_type=node_type,
                nodes=node_count,
                nic_layout=nic_layout,
                available_addresses=available_addresses,
                file_system_interfaces=file_system_interfaces,
            )
        )
        return _ExistingNetwork(
            scope,
            construct_id,
            vpc=vpc,
            subnet=subnet,
            zone_id=zone_id,
            instance_type=node_type,
            nic_layout=nic_layout,
            security_group=security_group,
            efa_rules=add_efa_rules,
            default_security_group=default_security_group,
        )

    def _define_security_group(self) -> ec2.SecurityGroup:
        group = ec2.SecurityGroup(
            self,
            "SecurityGroup",
            vpc=self.vpc,
            description="Nodes of the cluster: EFA among themselves, HTTPS to AWS services",
            allow_all_outbound=False,
        )
        # Without a NAT gateway, the route table only has routes to the VPC and to S3.
        group.add_egress_rule(ec2.Peer.any_ipv4(), ec2.Port.tcp(_HTTPS), "AWS services through endpoints")
        add_efa_rules(self, security_group_id=group.security_group_id)
        return group

    def _define_endpoints(
        self, route_table_id: str, nodes: ec2.SecurityGroup, *, services: Sequence[str], tasks_group_id: str
    ) -> None:
        region = Stack.of(self).region
        policies = self.endpoint_policies
        ec2.CfnVPCEndpoint(
            self,
            "S3",
            vpc_id=self.vpc_id,
            service_name=f"com.amazonaws.{region}.s3",
            vpc_endpoint_type="Gateway",
            route_table_ids=[route_table_id],
            policy_document=policies and policies.document("s3"),
        )
        group = ec2.SecurityGroup(
            self,
            "EndpointSecurityGroup",
            vpc=self.vpc,
            description="Interface endpoints of the cluster: HTTPS from its nodes",
            allow_all_outbound=False,
        )
        group.add_ingress_rule(nodes, ec2.Port.tcp(_HTTPS), "HTTPS from the nodes")
        group_id = group.security_group_id
        ec2.CfnSecurityGroupIngress(
            self,
            "EndpointsFromTasks",
            group_id=group_id,
            source_security_group_id=tasks_group_id,
            ip_protocol="tcp",
            from_port=_HTTPS,
            to_port=_HTTPS,
            description="HTTPS from the tasks of multi-node jobs",
        )
        for service in services:
            ec2.CfnVPCEndpoint(
                self,
                "".join(part.capitalize() for part in re.split("[.-]", service)),
                vpc_id=self.vpc_id,
                service_name=f"com.amazonaws.{region}.{service}",
                vpc_endpoint_type="Interface",
                subnet_ids=[self.subnet_id],
                security_group_ids=[group_id],
                private_dns_enabled=True,
                policy_document=policies and policies.document(service),
            )

    def retain(self) -> None:
        """Retain the VPC and its subnet when their stack is deleted, because a retained resource uses them.

        EC2 refuses to delete them while a file system is in the subnet. A creation that fails removes them, and nothing is
        changed of an existing network.
        """
        for resource in self._place:
            resource.apply_removal_policy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE)

    def interfaces_of(self, instance_type: InstanceType) -> tuple[NetworkInterface, ...]:
        """Return the network interfaces of nodes of an instance type, for which the subnet has addresses.

        A named layout applies to every instance type. A sequence of interfaces applies to the type that the network was
        sized for; nodes of other types get the layout ``batch``, which needs the fewest addresses.

        Args:
            instance_type: Type of the nodes.
        """
        layout = self._nic_layout
        if not isinstance(layout, str) and instance_type != self._instance_type:
            layout = "batch"
        return network_interfaces(instance_type, layout)

    @property
    def connections(self) -> ec2.Connections:
        """Connections of the nodes' security group."""
        return self.security_group.connections

    @property
    def security_group_id(self) -> str:
        """ID of the security group."""
        return self.security_group.security_group_id


class _ExistingNetwork(ClusterNetwork):
    """Network returned by `ClusterNetwork.from_subnet`."""

    @validate_arguments
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        vpc: ec2.IVpc,
        subnet: ec2.ISubnet,
        zone_id: str,
        instance_type: InstanceType,
        nic_layout: NicLayout,
        security_group: ec2.ISecurityGroup | None,
        efa_rules: bool,
        default_security_group: ec2.ISecurityGroup | None,
    ) -> None:
        Construct.__init__(self, scope, construct_id)
        self._place = ()
        self.endpoint_policies = None
        self.services = None
        self.vpc = vpc
        self.vpc_id = vpc.vpc_id
        self.subnet = subnet
        self.subnet_id = subnet.subnet_id
        self.zone_id = zone_id
        self.tasks_group_id = default_security_group.security_group_id if default_security_group else None
        self._instance_type = instance_type
        self._nic_layout = nic_layout
        if default_security_group is None and not isinstance(vpc, ec2.Vpc):
            tasks = Finding(
                "UC3208",
                "the interface of a multi-node task takes the default security group of the VPC, whose rules are not "
                "known here; without them tasks of different nodes do not reach each other or AWS",
                remedy="Run `ultracluster preflight`, which reads the group, or set default_security_group to add its rules; "
                "interface endpoints must allow it on port 443",
                path="vpc",
            )
            warn(self, tasks)
        elif default_security_group is not None:
            rules = add_task_rules(self, security_group_id=default_security_group.security_group_id)
            if emptied := _emptying_of_default_group(vpc):
                for rule in rules:
                    rule.node.add_dependency(emptied)
        if security_group is None:
            self.security_group = self._define_security_group()
            return
        self.security_group = security_group
        if efa_rules:
            add_efa_rules(self, security_group_id=security_group.security_group_id)
            return
        warn(self, warn_of_unknown_efa_rules("the imported security group").at("security_group"))


def check_network(given: Network) -> list[Finding]:
    """Return what is wrong with a network by itself, as far as it is known before deployment."""
    return wrong_types(given) or check_known(given, NETWORK_RULES)


def define_network(
    scope: Construct,
    construct_id: str,
    given: Network,
    *,
    zone_id: str,
    instance_type: InstanceType,
    node_count: int,
    file_system_interfaces: int,
) -> ClusterNetwork:
    """Define the new network of a cluster, or use the existing subnet."""
    if given.vpc_id is None or given.subnet_id is None:
        network = ClusterNetwork(
            scope,
            construct_id,
            zone_id=zone_id,
            instance_type=instance_type,
            node_count=node_count,
            nic_layout=given.layout,
            cidr=given.cidr,
            subnet_prefix=given.subnet_prefix,
            nat_gateway=given.nat_gateway,
            endpoints=given.endpoints,
            limit_endpoints=given.limit_endpoints,
        )
        if policies := network.endpoint_policies:
            for account in given.allowed_accounts:
                policies.allow_account(account)
            for bucket in given.allowed_buckets:
                policies.allow_bucket(bucket)
        return network
    return ClusterNetwork.from_subnet(
        scope,
        construct_id,
        # The zone's name differs between accounts and is unknown; nothing uses it.
        vpc=ec2.Vpc.from_vpc_attributes(
            scope, f"{construct_id}Vpc", vpc_id=given.vpc_id, availability_zones=[zone_id]
        ),
        subnet=ec2.Subnet.from_subnet_id(scope, f"{construct_id}Subnet", given.subnet_id),
        zone_id=zone_id,
        instance_type=instance_type,
        node_count=node_count,
        nic_layout=given.layout,
        available_addresses=given.available_addresses,
        file_system_interfaces=file_system_interfaces,
        security_group=_group(scope, f"{construct_id}Group", given.security_group_id),
        add_efa_rules=given.add_efa_rules,
        default_security_group=_group(scope, f"{construct_id}DefaultGroup", given.default_security_group_id),
    )


def _group(scope: Construct, construct_id: str, group_id: str | None) -> ec2.ISecurityGroup | None:
    return ec2.SecurityGroup.from_security_group_id(scope, construct_id, group_id) if group_id else None


def private_subnet(
    vpc: ec2.IVpc, selection: ec2.SubnetSelection | None, *, path: str = "subnet"
) -> ec2.ISubnet:
    """Return the one private subnet that a selection names, by default that of a VPC with one.

    While the context of a lookup is missing, the subnet is a placeholder of the CDK.

    Raises:
        FindingsError: If it names none, several, or a public one (UC3113).
    """
    wanted = selection or ec2.SubnetSelection()
    problem, subnets = "", []
    try:
        selected = vpc.select_subnets(
            availability_zones=wanted.availability_zones,
            one_per_az=wanted.one_per_az,
            subnet_filters=wanted.subnet_filters,
            subnet_group_name=wanted.subnet_group_name,
            subnets=wanted.subnets,
            subnet_type=wanted.subnet_type,
        )
        if selected.is_pending_lookup:
            return (*selected.subnets, *vpc.private_subnets)[0]
        subnets = selected.subnets
        if len(subnets) != 1:
            zones = ", ".join(quote(zone) for zone in selected.availability_zones)
            problem = f"{len(subnets)} subnets are selected{zones and f', in {zones}'}"
        elif selected.has_public:
            problem = (
                "the subnet is public, and EC2 gives no public address to instances with several interfaces"
            )
    except RuntimeError as error:  # of the CDK, about names and types that the VPC does not have
        problem = str(error).partition(": ")[2]
    if problem:
        raise FindingsError.of(
            "UC3113",
            problem,
            allowed="one private subnet, in the zone of the capacity",
            remedy=_proposal(vpc, written=wanted.availability_zones or ()),
            path=path,
        )
    return subnets[0]


def _proposal(vpc: ec2.IVpc, *, written: Sequence[str]) -> str:
    """Return a selection of one private subnet that differs from the zones that were written."""
    subnets = [*vpc.private_subnets, *vpc.isolated_subnets]
    zones = Counter(each.availability_zone for each in subnets if is_known(each.availability_zone))
    alone = [zone for zone, count in zones.items() if count == 1 and zone not in written]
    if not subnets:
        return "Add a private subnet to the VPC"
    if alone:
        return f'Select it by ec2.SubnetSelection(availability_zones=["{alone[0]}"]), where the VPC has one, or by subnets=[...]'
    return "Select it by ec2.SubnetSelection(subnets=[vpc.private_subnets[0]])"


def _emptying_of_default_group(vpc: ec2.IVpc) -> IConstruct | None:
    """Return the resource by which the CDK removes the rules of the default security group of a VPC, if it does."""
    return vpc.node.try_find_child("RestrictDefaultSecurityGroupCustomResource")


def check_default_group(vpc: ec2.IVpc, *, path: str) -> list[Finding]:
    """Check that the CDK leaves the default security group of a VPC alone, in which the tasks of multi-node jobs are."""
    return require(
        _emptying_of_default_group(vpc) is None,
        "UC3260",
        "the CDK removes the rules of the default security group of this VPC, as the feature flag "
        "@aws-cdk/aws-ec2:restrictDefaultSecurityGroup asks for, and tasks of multi-node jobs, which are in that group, "
        "would reach neither each other nor AWS",
        remedy="Define the ec2.Vpc with restrict_default_security_group=False, or pass that group as "
        "default_security_group to ClusterNetwork.from_subnet, which adds what tasks need",
        path=path,
    )


def _addresses_of(subnet: ec2.ISubnet) -> int:
    """Return how many addresses a new subnet has; more than enough of one that is not defined in the app."""
    cidr = subnet.ipv4_cidr_block if isinstance(subnet, ec2.Subnet) else ""
    if not cidr or is_token(cidr):
        return sys.maxsize
    return ipaddress.IPv4Network(cidr).num_addresses - RESERVED_PER_SUBNET


def check_zone(scope: Construct, zone_id: str) -> list[Finding]:
    """Check that a zone is in the Region of a stack.

    Args:
        scope: Construct in the stack.
        zone_id: Availability Zone ID.
    """
    if not is_known(zone_id):
        return []
    region = Stack.of(scope).region
    findings = check_zone_id(zone_id)
    if not is_token(region):
        if findings and region not in REGIONS:  # a zone of a Region that the catalog does not know
            return []
        findings = findings or check_zone_region(
            zone_id, zone_region=region_of_zone_id(zone_id), region=region
        )
    return [finding.at("zone_id") for finding in findings]
