"""Route tables, routes, gateways and Elastic IP addresses."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from ultracluster_local.cloudformation.errors import ResourceError
from ultracluster_local.cloudformation.providers import ApiProvider, Context, Provider, unless_gone
from ultracluster_local.cloudformation.resource_types.ec2_security_groups import EC2_TAGS
from ultracluster_local.cloudformation.values import Properties

__all__ = ["PROVIDERS"]


class _Route(Provider):
    """A route, which has no ID in EC2."""

    def create(self, context: Context, properties: Properties) -> str:
        """Create the route; its ID consists of table and destination, as in CloudFormation."""
        context.call("ec2", "CreateRoute", properties)
        return f"{properties['RouteTableId']}|{_destination(properties)[1]}"

    def update(self, context: Context, physical_id: str, old: Properties, new: Properties) -> str:  # noqa: ARG002 - likewise
        context.call("ec2", "ReplaceRoute", new)
        return physical_id

    def delete(self, context: Context, physical_id: str, properties: Properties) -> None:  # noqa: ARG002 - likewise
        key, value = _destination(properties)
        with unless_gone():
            context.call("ec2", "DeleteRoute", {"RouteTableId": properties["RouteTableId"], key: value})


def _destination(properties: Properties) -> tuple[str, str]:
    for key in ("DestinationCidrBlock", "DestinationIpv6CidrBlock", "DestinationPrefixListId"):
        if key in properties:
            return key, properties[key]
    raise ValueError("a route without a destination passed the schema")


class _GatewayAttachment(Provider):
    """The attachment of an internet gateway to a VPC."""

    def create(self, context: Context, properties: Properties) -> str:
        if "VpnGatewayId" in properties:
            raise ResourceError(
                "The local AWS does not support VpnGatewayId of AWS::EC2::VPCGatewayAttachment; see `ultracluster docs local-aws`."
            )
        context.call("ec2", "AttachInternetGateway", properties)
        return f"IGW|{properties['VpcId']}"

    def delete(self, context: Context, physical_id: str, properties: Properties) -> None:  # noqa: ARG002 - likewise
        context.call("ec2", "DetachInternetGateway", properties)


class _SubnetRouteTable(ApiProvider):
    """The association of a subnet with a route table; a new one replaces the old one."""

    def create(self, context: Context, properties: Properties) -> str:
        """Associate the route table; replace an existing association of the subnet."""
        wanted = {"Filters": [{"Name": "association.subnet-id", "Values": [properties["SubnetId"]]}]}
        for table in context.call("ec2", "DescribeRouteTables", wanted)["RouteTables"]:
            for one in table["Associations"]:
                if one.get("SubnetId") == properties["SubnetId"]:
                    request = {
                        "AssociationId": one["RouteTableAssociationId"],
                        "RouteTableId": properties["RouteTableId"],
                    }
                    return str(
                        context.call("ec2", "ReplaceRouteTableAssociation", request)["NewAssociationId"]
                    )
        return super().create(context, properties)


def _association(context: Context, physical_id: str, properties: Properties) -> Mapping[str, Any]:  # noqa: ARG001 - a provider's signature
    return {"Filters": [{"Name": "association.route-table-association-id", "Values": [physical_id]}]}


def _allocation(context: Context, address: str, properties: Properties) -> Mapping[str, Any]:  # noqa: ARG001 - likewise
    found = context.call("ec2", "DescribeAddresses", {"PublicIps": [address]})["Addresses"][0]
    return {"AllocationId": found["AllocationId"]}


PROVIDERS: Mapping[str, Provider] = {
    "AWS::EC2::RouteTable": ApiProvider.described(
        "ec2", "RouteTable", "RouteTableId", tagging=EC2_TAGS, tags_as="route-table"
    ),
    "AWS::EC2::Route": _Route(),
    "AWS::EC2::SubnetRouteTableAssociation": _SubnetRouteTable(
        service="ec2",
        creates="AssociateRouteTable",
        id_path="AssociationId",
        deletes=("DisassociateRouteTable", "AssociationId"),
        reads=("DescribeRouteTables", _association, "RouteTables[0].Associations[0]"),
    ),
    "AWS::EC2::InternetGateway": ApiProvider.described(
        "ec2", "InternetGateway", "InternetGatewayId", tagging=EC2_TAGS, tags_as="internet-gateway"
    ),
    "AWS::EC2::VPCGatewayAttachment": _GatewayAttachment(),
    "AWS::EC2::NatGateway": ApiProvider.described(
        "ec2",
        "NatGateway",
        "NatGatewayId",
        tagging=EC2_TAGS,
        tags_as="natgateway",
    ),
    "AWS::EC2::EIP": ApiProvider(
        service="ec2",
        creates="AllocateAddress",
        id_path="PublicIp",
        deletes=("ReleaseAddress", _allocation),
        reads=("DescribeAddresses", "PublicIps[]", "Addresses[0]"),
        tagging=dataclasses.replace(EC2_TAGS, attribute="AllocationId"),
        tags_later=True,
    ),
}
