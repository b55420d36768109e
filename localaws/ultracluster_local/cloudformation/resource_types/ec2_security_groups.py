"""Security groups, their rules, and EC2's tagging."""

from collections.abc import Mapping
from typing import Any

from botocore.exceptions import ClientError

from ultracluster_local.cloudformation.providers import ApiProvider, Context, Provider, Tagging, unless_gone
from ultracluster_local.cloudformation.values import Properties, changed_keys

__all__ = ["EC2_TAGS", "PROVIDERS"]

EC2_TAGS = Tagging(service="ec2", add="CreateTags", remove="DeleteTags", target="Resources", keys="Tags")

_RULE_TARGETS = {
    "CidrIp": ("IpRanges", "CidrIp"),
    "CidrIpv6": ("Ipv6Ranges", "CidrIpv6"),
    "SourceSecurityGroupId": ("UserIdGroupPairs", "GroupId"),
    "DestinationSecurityGroupId": ("UserIdGroupPairs", "GroupId"),
    "SourcePrefixListId": ("PrefixListIds", "PrefixListId"),
    "DestinationPrefixListId": ("PrefixListIds", "PrefixListId"),
}


def _permission(rule: Properties) -> dict[str, Any]:
    """Convert a rule to an IpPermission."""
    permission: dict[str, Any] = {"IpProtocol": str(rule["IpProtocol"])}
    permission |= {key: int(rule[key]) for key in ("FromPort", "ToPort") if key in rule}
    for name, (group, member) in _RULE_TARGETS.items():
        if name in rule:
            described = {"Description": rule["Description"]} if rule.get("Description") else {}
            permission[group] = [{member: rule[name], **described}]
    return permission


_EVERYTHING_OUT = {"IpProtocol": "-1", "CidrIp": "0.0.0.0/0"}


class _SecurityGroup(ApiProvider):
    """A security group with its inline rules."""

    def create(self, context: Context, properties: Properties) -> str:
        """Create the security group, then set its rules; egress rules replace the default one that allows everything."""
        group_id = super().create(context, properties)
        egress = properties.get("SecurityGroupEgress")
        self._change(context, group_id, "Ingress", [], properties.get("SecurityGroupIngress") or [])
        if egress is not None:
            self._change(context, group_id, "Egress", [_EVERYTHING_OUT], egress)
        return group_id

    def _change(
        self, context: Context, group_id: str, direction: str, old: list[Properties], new: list[Properties]
    ) -> None:
        before, after = [_permission(rule) for rule in old], [_permission(rule) for rule in new]
        for verb, permissions in (
            ("Revoke", [one for one in before if one not in after]),
            ("Authorize", [one for one in after if one not in before]),
        ):
            if permissions:
                request = {"GroupId": group_id, "IpPermissions": permissions}
                context.call("ec2", f"{verb}SecurityGroup{direction}", request)

    def update(self, context: Context, physical_id: str, old: Properties, new: Properties) -> str:
        rules = {"SecurityGroupIngress": [], "SecurityGroupEgress": [_EVERYTHING_OUT]}
        for name, default in rules.items():
            if old.get(name) != new.get(name):
                direction = name.removeprefix("SecurityGroup")
                self._change(context, physical_id, direction, old.get(name, default), new.get(name, default))
        return super().update(context, physical_id, old, new)


def _lets_all_out(rule: Properties) -> bool:
    return all(str(rule.get(key)) == value for key, value in _EVERYTHING_OUT.items())


class _SecurityGroupRule(Provider):
    """A rule as a separate resource."""

    def __init__(self, direction: str) -> None:
        self._direction = direction

    def create(self, context: Context, properties: Properties) -> str:
        request = {"GroupId": properties["GroupId"], "IpPermissions": [_permission(properties)]}
        try:
            answer = context.call("ec2", f"AuthorizeSecurityGroup{self._direction}", request)
        except ClientError as error:
            # Published templates declare the egress rule that a new group has already (awslabs/awsome-distributed-ai, 1.vpc_network).
            if self._direction == "Ingress" or not _lets_all_out(properties) or "Duplicate" not in str(error):
                raise
            return self._default_rule(context, properties)
        return str(answer["SecurityGroupRules"][0]["SecurityGroupRuleId"])

    @staticmethod
    def _default_rule(context: Context, properties: Properties) -> str:
        wanted = {"Filters": [{"Name": "group-id", "Values": [properties["GroupId"]]}]}
        rules = context.call("ec2", "DescribeSecurityGroupRules", wanted)["SecurityGroupRules"]
        everything = _EVERYTHING_OUT["CidrIp"]
        return next(str(one["SecurityGroupRuleId"]) for one in rules if one.get("CidrIpv4") == everything)

    def attributes(self, context: Context, physical_id: str, properties: Properties) -> Mapping[str, Any]:  # noqa: ARG002 - the id is all
        return {"Id": physical_id}

    def update(self, context: Context, physical_id: str, old: Properties, new: Properties) -> str:
        if changed_keys(old, new) != ["Description"]:
            return super().update(context, physical_id, old, new)
        request = {"GroupId": new["GroupId"], "IpPermissions": [_permission(new)]}
        context.call("ec2", f"UpdateSecurityGroupRuleDescriptions{self._direction}", request)
        return physical_id

    def delete(self, context: Context, physical_id: str, properties: Properties) -> None:  # noqa: ARG002 - moto revokes by permission
        request = {"GroupId": properties["GroupId"], "IpPermissions": [_permission(properties)]}
        with unless_gone():
            context.call("ec2", f"RevokeSecurityGroup{self._direction}", request)


PROVIDERS: Mapping[str, Provider] = {
    "AWS::EC2::SecurityGroup": _SecurityGroup.described(
        "ec2",
        "SecurityGroup",
        "GroupId",
        id_path="GroupId",
        attribute_paths={"VpcId": "VpcId"},
        generates=("GroupName", 255),
        sends={"GroupDescription": "Description"},
        apart=frozenset({"SecurityGroupIngress", "SecurityGroupEgress"}),
        tagging=EC2_TAGS,
        tags_as="security-group",
    ),
    "AWS::EC2::SecurityGroupIngress": _SecurityGroupRule("Ingress"),
    "AWS::EC2::SecurityGroupEgress": _SecurityGroupRule("Egress"),
}
