"""The network: VPC, subnets, routes, gateways, endpoints, flow logs."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from botocore.exceptions import ClientError

from ultracluster_local.cloudformation.providers import ApiProvider, Context, Provider, Tagging
from ultracluster_local.cloudformation.resource_types.ec2_security_groups import EC2_TAGS
from ultracluster_local.cloudformation.values import Properties, changed_keys

__all__ = ["PROVIDERS"]


def _without(*names: str) -> Callable[[Context, dict[str, Any]], dict[str, Any]]:
    """Leave out what another call carries."""
    return lambda _, properties: {key: part for key, part in properties.items() if key not in names}


class _Vpc(ApiProvider):
    """A VPC; its DNS settings are calls of their own."""

    def create(self, context: Context, properties: Properties) -> str:
        """Create, then set the DNS attributes."""
        vpc_id = super().create(context, properties)
        self._set_dns(context, vpc_id, properties)
        return vpc_id

    def _set_dns(self, context: Context, vpc_id: str, properties: Properties) -> None:
        for name in ("EnableDnsSupport", "EnableDnsHostnames"):
            if name in properties:
                value = {"VpcId": vpc_id, name: {"Value": str(properties[name]).lower() == "true"}}
                context.call("ec2", "ModifyVpcAttribute", value)

    def read(self, context: Context, physical_id: str, properties: Properties) -> Mapping[str, Any] | None:
        """Add the DNS attributes, which DescribeVpcs does not show."""
        shown = super().read(context, physical_id, properties)
        if shown is None:
            return None
        attributes = {}
        for name, request in (
            ("EnableDnsSupport", "enableDnsSupport"),
            ("EnableDnsHostnames", "enableDnsHostnames"),
        ):
            answer = context.call("ec2", "DescribeVpcAttribute", {"VpcId": physical_id, "Attribute": request})
            attributes[name] = answer[name]["Value"]
        return {**shown, **attributes}

    def attributes(self, context: Context, physical_id: str, properties: Properties) -> Mapping[str, Any]:
        """Add what was created along with the VPC."""
        own = {"Filters": [{"Name": "vpc-id", "Values": [physical_id]}]}
        default = {"Filters": [*own["Filters"], {"Name": "group-name", "Values": ["default"]}]}
        groups = context.call("ec2", "DescribeSecurityGroups", default)["SecurityGroups"]
        acls = context.call("ec2", "DescribeNetworkAcls", own)["NetworkAcls"]
        return {
            **super().attributes(context, physical_id, properties),
            "DefaultSecurityGroup": groups[0]["GroupId"],
            "DefaultNetworkAcl": acls[0]["NetworkAclId"],
        }

    def update(self, context: Context, physical_id: str, old: Properties, new: Properties) -> str:
        """Change the DNS attributes and tags."""
        dns = {"EnableDnsSupport", "EnableDnsHostnames"}
        self._set_dns(
            context, physical_id, {key: new[key] for key in changed_keys(old, new) if key in dns & set(new)}
        )
        return super().update(
            context, physical_id, *({k: v for k, v in side.items() if k not in dns} for side in (old, new))
        )


class _Subnet(ApiProvider):
    """A subnet; whether it gives public addresses is a call of its own."""

    def create(self, context: Context, properties: Properties) -> str:
        """Create, then set MapPublicIpOnLaunch."""
        subnet_id = super().create(context, properties)
        self._set_public(context, subnet_id, properties)
        return subnet_id

    def _set_public(self, context: Context, subnet_id: str, properties: Properties) -> None:
        if "MapPublicIpOnLaunch" in properties:
            value = {"Value": str(properties["MapPublicIpOnLaunch"]).lower() == "true"}
            context.call(
                "ec2", "ModifySubnetAttribute", {"SubnetId": subnet_id, "MapPublicIpOnLaunch": value}
            )

    def update(self, context: Context, physical_id: str, old: Properties, new: Properties) -> str:
        """Change MapPublicIpOnLaunch and tags."""
        if old.get("MapPublicIpOnLaunch") != new.get("MapPublicIpOnLaunch"):
            self._set_public(context, physical_id, {"MapPublicIpOnLaunch": False, **new})
        hidden = {"MapPublicIpOnLaunch"}
        return super().update(
            context, physical_id, *({k: v for k, v in side.items() if k not in hidden} for side in (old, new))
        )


class _Route(Provider):
    """A route; it has no id of its own."""

    def create(self, context: Context, properties: Properties) -> str:
        """Create it; the id is table and destination, as in CloudFormation."""
        context.call("ec2", "CreateRoute", properties)
        return f"{properties['RouteTableId']}|{_destination(properties)[1]}"

    def read(self, context: Context, physical_id: str, properties: Properties) -> Mapping[str, Any] | None:  # noqa: ARG002 - the properties say it all
        """Find it in its table."""
        key, value = _destination(properties)
        table = {"RouteTableIds": [properties["RouteTableId"]]}
        for one in context.call("ec2", "DescribeRouteTables", table)["RouteTables"][0]["Routes"]:
            if one.get(key) == value:
                return {"RouteTableId": properties["RouteTableId"], **one}
        return None

    def update(self, context: Context, physical_id: str, old: Properties, new: Properties) -> str:  # noqa: ARG002 - likewise
        """Point it elsewhere."""
        context.call("ec2", "ReplaceRoute", new)
        return physical_id

    def delete(self, context: Context, physical_id: str, properties: Properties) -> None:  # noqa: ARG002 - likewise
        """Delete it."""
        key, value = _destination(properties)
        try:
            context.call("ec2", "DeleteRoute", {"RouteTableId": properties["RouteTableId"], key: value})
        except ClientError as error:
            if "NotFound" not in error.response["Error"]["Code"]:
                raise


def _destination(properties: Properties) -> tuple[str, str]:
    for key in ("DestinationCidrBlock", "DestinationIpv6CidrBlock", "DestinationPrefixListId"):
        if key in properties:
            return key, properties[key]
    raise ValueError("a route without a destination passed the schema")


class _GatewayAttachment(Provider):
    """The link between a VPC and its internet gateway."""

    def create(self, context: Context, properties: Properties) -> str:
        """Attach."""
        context.call("ec2", "AttachInternetGateway", properties)
        return f"IGW|{properties['VpcId']}"

    def read(self, context: Context, physical_id: str, properties: Properties) -> Mapping[str, Any] | None:  # noqa: ARG002 - the properties say it all
        """Look at the gateway's attachments."""
        wanted = {"InternetGatewayIds": [properties["InternetGatewayId"]]}
        gateways = context.call("ec2", "DescribeInternetGateways", wanted)["InternetGateways"]
        for attachment in gateways[0]["Attachments"]:
            if attachment["VpcId"] == properties["VpcId"]:
                return {"VpcId": properties["VpcId"], "InternetGatewayId": properties["InternetGatewayId"]}
        return None

    def delete(self, context: Context, physical_id: str, properties: Properties) -> None:  # noqa: ARG002 - likewise
        """Detach."""
        context.call("ec2", "DetachInternetGateway", properties)


def _flow_log(_: Context, properties: dict[str, Any]) -> dict[str, Any]:
    prepared = dict(properties)
    prepared["ResourceIds"] = [prepared.pop("ResourceId")]
    return prepared


class _VpcEndpoint(ApiProvider):
    """A VPC endpoint; what it is attached to changes piece by piece."""

    def update(self, context: Context, physical_id: str, old: Properties, new: Properties) -> str:
        """Change policy, attachments and tags."""
        request: dict[str, Any] = {}
        if old.get("PolicyDocument") != new.get("PolicyDocument"):
            policy = new.get("PolicyDocument")
            request |= {"PolicyDocument": json.dumps(policy)} if policy else {"ResetPolicy": True}
        for name in ("RouteTableIds", "SubnetIds", "SecurityGroupIds"):
            before, after = set(old.get(name) or []), set(new.get(name) or [])
            for verb, ids in (("Add", after - before), ("Remove", before - after)):
                if ids:
                    request[f"{verb}{name}"] = sorted(ids)
        if request:
            context.call("ec2", "ModifyVpcEndpoint", {"VpcEndpointId": physical_id, **request})
        hidden = {"PolicyDocument", "RouteTableIds", "SubnetIds", "SecurityGroupIds"}
        return super().update(
            context, physical_id, *({k: v for k, v in side.items() if k not in hidden} for side in (old, new))
        )


class _SubnetRouteTable(ApiProvider):
    """Which route table a subnet uses: one at a time, so a new one takes the place of the old."""

    def create(self, context: Context, properties: Properties) -> str:
        """Replace the subnet's association, if it has one of its own."""
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


PROVIDERS: Mapping[str, Provider] = {
    "AWS::EC2::VPC": _Vpc(
        service="ec2",
        creates="CreateVpc",
        id_path="Vpc.VpcId",
        deletes=("DeleteVpc", "VpcId"),
        reads=("DescribeVpcs", "VpcIds[]", "Vpcs[0]"),
        attribute_paths={
            "VpcId": "VpcId",
            "CidrBlock": "CidrBlock",
            "CidrBlockAssociations": "CidrBlockAssociationSet[].AssociationId",
        },
        prepare=_without("EnableDnsSupport", "EnableDnsHostnames"),
        tagging=EC2_TAGS,
        tags_later=True,
    ),
    "AWS::EC2::Subnet": _Subnet(
        service="ec2",
        creates="CreateSubnet",
        id_path="Subnet.SubnetId",
        deletes=("DeleteSubnet", "SubnetId"),
        reads=("DescribeSubnets", "SubnetIds[]", "Subnets[0]"),
        attribute_paths={
            name: name
            for name in ("SubnetId", "VpcId", "AvailabilityZone", "AvailabilityZoneId", "CidrBlock")
        },
        prepare=_without("MapPublicIpOnLaunch"),
        tagging=EC2_TAGS,
        tags_later=True,
    ),
    "AWS::EC2::RouteTable": ApiProvider(
        service="ec2",
        creates="CreateRouteTable",
        id_path="RouteTable.RouteTableId",
        deletes=("DeleteRouteTable", "RouteTableId"),
        reads=("DescribeRouteTables", "RouteTableIds[]", "RouteTables[0]"),
        attribute_paths={"RouteTableId": "RouteTableId"},
        tagging=EC2_TAGS,
        tags_later=True,
    ),
    "AWS::EC2::Route": _Route(),
    "AWS::EC2::SubnetRouteTableAssociation": _SubnetRouteTable(
        service="ec2",
        creates="AssociateRouteTable",
        id_path="AssociationId",
        deletes=("DisassociateRouteTable", "AssociationId"),
        reads=("DescribeRouteTables", _association, "RouteTables[0].Associations[0]"),
        attribute_paths={"Id": "=id"},
    ),
    "AWS::EC2::InternetGateway": ApiProvider(
        service="ec2",
        creates="CreateInternetGateway",
        id_path="InternetGateway.InternetGatewayId",
        deletes=("DeleteInternetGateway", "InternetGatewayId"),
        reads=("DescribeInternetGateways", "InternetGatewayIds[]", "InternetGateways[0]"),
        attribute_paths={"InternetGatewayId": "InternetGatewayId"},
        tagging=EC2_TAGS,
        tags_later=True,
    ),
    "AWS::EC2::VPCGatewayAttachment": _GatewayAttachment(),
    "AWS::EC2::NatGateway": ApiProvider(
        service="ec2",
        creates="CreateNatGateway",
        id_path="NatGateway.NatGatewayId",
        deletes=("DeleteNatGateway", "NatGatewayId"),
        reads=("DescribeNatGateways", "NatGatewayIds[]", "NatGateways[0]"),
        attribute_paths={"NatGatewayId": "NatGatewayId"},
        renames={"AllocationId": "NatGatewayAddresses[0].AllocationId"},
        tagging=EC2_TAGS,
        tags_later=True,
    ),
    "AWS::EC2::EIP": ApiProvider(
        service="ec2",
        creates="AllocateAddress",
        id_path="PublicIp",
        deletes=(
            "ReleaseAddress",
            lambda context, address, _: {
                "AllocationId": context.call("ec2", "DescribeAddresses", {"PublicIps": [address]})[
                    "Addresses"
                ][0]["AllocationId"]
            },
        ),
        reads=("DescribeAddresses", "PublicIps[]", "Addresses[0]"),
        attribute_paths={"AllocationId": "AllocationId", "PublicIp": "PublicIp"},
        tagging=Tagging(
            service="ec2",
            add="CreateTags",
            remove="DeleteTags",
            target="Resources",
            tags="Tags",
            keys="Tags",
            attribute="AllocationId",
        ),
        tags_later=True,
    ),
    "AWS::EC2::VPCEndpoint": _VpcEndpoint(
        service="ec2",
        creates="CreateVpcEndpoint",
        id_path="VpcEndpoint.VpcEndpointId",
        deletes=("DeleteVpcEndpoints", "VpcEndpointIds[]"),
        reads=("DescribeVpcEndpoints", "VpcEndpointIds[]", "VpcEndpoints[0]"),
        attribute_paths={
            "Id": "VpcEndpointId",
            "DnsEntries": "DnsEntries[].join(':', [HostedZoneId, DnsName])",
            "NetworkInterfaceIds": "NetworkInterfaceIds",
        },
        renames={"SecurityGroupIds": "Groups[].GroupId"},
        tagging=EC2_TAGS,
        tags_later=True,
    ),
    "AWS::EC2::FlowLog": ApiProvider(
        service="ec2",
        creates="CreateFlowLogs",
        id_path="FlowLogIds[0]",
        deletes=("DeleteFlowLogs", "FlowLogIds[]"),
        reads=("DescribeFlowLogs", "FlowLogIds[]", "FlowLogs[0]"),
        attribute_paths={"Id": "FlowLogId"},
        prepare=_flow_log,
        tagging=EC2_TAGS,
        tags_later=True,
    ),
}
