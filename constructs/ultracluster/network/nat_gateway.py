"""Internet access: a public subnet with one NAT gateway, in the Availability Zone of the nodes."""

from aws_cdk import aws_ec2 as ec2
from constructs import Construct


def define_nat_gateway(
    scope: Construct, *, vpc_id: str, public_cidr: str, zone_id: str, route_table_id: str
) -> None:
    """Define the NAT gateway in the zone of the nodes, its subnet, and the default route of the nodes."""
    internet = ec2.CfnInternetGateway(scope, "InternetGateway")
    attachment = ec2.CfnVPCGatewayAttachment(
        scope, "InternetGatewayAttachment", vpc_id=vpc_id, internet_gateway_id=internet.ref
    )
    subnet = ec2.CfnSubnet(
        scope,
        "PublicSubnet",
        vpc_id=vpc_id,
        cidr_block=public_cidr,
        availability_zone_id=zone_id,
        map_public_ip_on_launch=False,
    )
    routes = ec2.CfnRouteTable(scope, "PublicRouteTable", vpc_id=vpc_id)
    association = ec2.CfnSubnetRouteTableAssociation(
        scope, "PublicRouteTableAssociation", route_table_id=routes.ref, subnet_id=subnet.ref
    )
    way_out = ec2.CfnRoute(
        scope,
        "PublicRoute",
        route_table_id=routes.ref,
        destination_cidr_block="0.0.0.0/0",
        gateway_id=internet.ref,
    )
    address = ec2.CfnEIP(scope, "NatAddress", domain="vpc")
    gateway = ec2.CfnNatGateway(
        scope, "NatGateway", subnet_id=subnet.ref, allocation_id=address.attr_allocation_id
    )
    # EC2 can associate and release Elastic IP addresses only while the internet gateway is attached.
    for resource in (way_out, address):
        resource.add_resource_dependency(attachment)
    for needed in (way_out, association):
        gateway.add_resource_dependency(needed)
    ec2.CfnRoute(
        scope,
        "NatRoute",
        route_table_id=route_table_id,
        destination_cidr_block="0.0.0.0/0",
        nat_gateway_id=gateway.ref,
    )
