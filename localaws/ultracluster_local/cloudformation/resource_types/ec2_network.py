"""VPCs, subnets, VPC endpoints and flow logs."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from ultracluster_local.cloudformation.providers import ApiProvider, Context, Provider
from ultracluster_local.cloudformation.resource_types.ec2_security_groups import EC2_TAGS
from ultracluster_local.cloudformation.values import Properties, changed_keys

__all__ = ["PROVIDERS"]


def _without(*names: str) -> Callable[[Context, dict[str, Any]], dict[str, Any]]:
    """Omit properties that another operation sets."""
    return lambda _, properties: {key: part for key, part in properties.items() if key not in names}


class _Vpc(ApiProvider):
    """A VPC. Its DNS attributes are set by separate operations."""

    def create(self, context: Context, properties: Properties) -> str:
        """Create the VPC, then set its DNS attributes."""
        vpc_id = super().create(context, properties)
        self._set_dns(context, vpc_id, properties)
        return vpc_id

    def _set_dns(self, context: Context, vpc_id: str, properties: Properties) -> None:
        for name in ("EnableDnsSupport", "EnableDnsHostnames"):
            if name in properties:
                value = {"VpcId": vpc_id, name: {"Value": str(properties[name]).lower() == "true"}}
                context.call("ec2", "ModifyVpcAttribute", value)

    def read(self, context: Context, physical_id: str, properties: Properties) -> Mapping[str, Any] | None:
        """Read the VPC with its DNS attributes, which DescribeVpcs does not return."""
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
        """Return the attributes, including resources that EC2 creates with the VPC."""
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
        """Update the DNS attributes and tags of the VPC."""
        dns = {"EnableDnsSupport", "EnableDnsHostnames"}
        self._set_dns(
            context, physical_id, {key: new[key] for key in changed_keys(old, new) if key in dns & set(new)}
        )
        return super().update(
            context, physical_id, *({k: v for k, v in side.items() if k not in dns} for side in (old, new))
        )


class _Subnet(ApiProvider):
    """A subnet. MapPublicIpOnLaunch is set by a separate operation."""

    def create(self, context: Context, properties: Properties) -> str:
        """Create the subnet, then set MapPublicIpOnLaunch."""
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
        """Update MapPublicIpOnLaunch and the tags of the subnet."""
        if old.get("MapPublicIpOnLaunch") != new.get("MapPublicIpOnLaunch"):
            self._set_public(context, physical_id, {"MapPublicIpOnLaunch": False, **new})
        hidden = {"MapPublicIpOnLaunch"}
        return super().update(
            context, physical_id, *({k: v for k, v in side.items() if k not in hidden} for side in (old, new))
        )


class _VpcEndpoint(ApiProvider):
    """A VPC endpoint. Its attachments are added and removed one by one."""

    def update(self, context: Context, physical_id: str, old: Properties, new: Properties) -> str:
        """Update policy, attachments and tags of the endpoint."""
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


class _VpcCidrBlock(ApiProvider):
    """A further CIDR block of a VPC, one of its associations."""

    def read(self, context: Context, physical_id: str, properties: Properties) -> Mapping[str, Any] | None:
        """Read the CIDR block from its VPC."""
        associations: Any = self._raw(context, physical_id, properties) or []
        for one in associations:
            if one["AssociationId"] == physical_id:
                return {"VpcId": properties["VpcId"], **one}
        return None


def _of_vpc(context: Context, physical_id: str, properties: Properties) -> Mapping[str, Any]:  # noqa: ARG001 - a provider's signature
    return {"VpcIds": [properties["VpcId"]]}


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
            "Ipv6CidrBlocks": "Ipv6CidrBlockAssociationSet[].Ipv6CidrBlock",
        },
        prepare=_without("EnableDnsSupport", "EnableDnsHostnames"),
        tagging=EC2_TAGS,
        tags_as="vpc",
    ),
    "AWS::EC2::VPCCidrBlock": _VpcCidrBlock(
        service="ec2",
        creates="AssociateVpcCidrBlock",
        id_path="CidrBlockAssociation.AssociationId",
        deletes=("DisassociateVpcCidrBlock", "AssociationId"),
        reads=("DescribeVpcs", _of_vpc, "Vpcs[0].CidrBlockAssociationSet"),
        attribute_paths={"Id": "=id"},
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
        tags_as="subnet",
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
        tags_as="vpc-endpoint",
    ),
}
