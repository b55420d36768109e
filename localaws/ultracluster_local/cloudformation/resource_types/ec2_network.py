"""VPCs, subnets, VPC endpoints and flow logs."""

import json
from collections.abc import Mapping
from typing import Any

from ultracluster_local.cloudformation.providers import ApiProvider, Context, Provider, Setting
from ultracluster_local.cloudformation.resource_types.ec2_security_groups import EC2_TAGS
from ultracluster_local.cloudformation.values import Properties

__all__ = ["PROVIDERS"]


def _switch(put: str, name: str, *, absent: bool) -> Setting:
    """Return a setting that EC2 takes as a structure."""
    return Setting(put=put, sent=lambda value: {name: {"Value": value}}, absent=absent)


class _Vpc(ApiProvider):
    """A VPC with its DNS attributes."""

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


class _VpcEndpoint(ApiProvider):
    """A VPC endpoint. Its attachments are added and removed one by one."""

    def update(self, context: Context, physical_id: str, old: Properties, new: Properties) -> str:
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


PROVIDERS: Mapping[str, Provider] = {
    "AWS::EC2::VPC": _Vpc.described(
        "ec2",
        "Vpc",
        "VpcId",
        attribute_paths={
            "CidrBlock": "CidrBlock",
            "CidrBlockAssociations": "CidrBlockAssociationSet[].AssociationId",
            "Ipv6CidrBlocks": "Ipv6CidrBlockAssociationSet[].Ipv6CidrBlock",
        },
        settings={
            "EnableDnsSupport": _switch("ModifyVpcAttribute", "EnableDnsSupport", absent=True),
            "EnableDnsHostnames": _switch("ModifyVpcAttribute", "EnableDnsHostnames", absent=False),
        },
        owner="VpcId",
        tagging=EC2_TAGS,
        tags_as="vpc",
    ),
    "AWS::EC2::VPCCidrBlock": ApiProvider(
        service="ec2",
        creates="AssociateVpcCidrBlock",
        id_path="CidrBlockAssociation.AssociationId",
        deletes=("DisassociateVpcCidrBlock", "AssociationId"),
    ),
    "AWS::EC2::Subnet": ApiProvider.described(
        "ec2",
        "Subnet",
        "SubnetId",
        attribute_paths={
            name: name for name in ("VpcId", "AvailabilityZone", "AvailabilityZoneId", "CidrBlock")
        },
        settings={
            "MapPublicIpOnLaunch": _switch("ModifySubnetAttribute", "MapPublicIpOnLaunch", absent=False)
        },
        owner="SubnetId",
        tagging=EC2_TAGS,
        tags_as="subnet",
    ),
    "AWS::EC2::VPCEndpoint": _VpcEndpoint.described(
        "ec2",
        "VpcEndpoint",
        "VpcEndpointId",
        deletes=("DeleteVpcEndpoints", "VpcEndpointIds[]"),
        attribute_paths={"DnsEntries": "DnsEntries[].join(':', [HostedZoneId, DnsName])"},
        tagging=EC2_TAGS,
        tags_as="vpc-endpoint",
    ),
}
