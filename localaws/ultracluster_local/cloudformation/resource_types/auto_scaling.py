"""Auto Scaling groups."""

from collections.abc import Mapping
from typing import Any

from ultracluster_local.cloudformation.errors import ResourceError
from ultracluster_local.cloudformation.providers import ApiProvider, Context, Provider, Tagging
from ultracluster_local.cloudformation.values import Properties

__all__ = ["PROVIDERS"]

_SIZES = ("MinSize", "MaxSize", "DesiredCapacity")


def _group(context: Context, properties: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG001 - a provider's signature
    subnets = properties.get("VPCZoneIdentifier")
    return properties | ({"VPCZoneIdentifier": ",".join(subnets)} if isinstance(subnets, list) else {})


class _Group(ApiProvider):
    """An Auto Scaling group; as in CloudFormation, its creation waits until it has its instances."""

    def refuse_update(self, definition: Mapping[str, Any], new: Properties) -> None:
        """Refuse a rolling update that keeps every instance (awsdocs/aws-cloudformation-user-guide#164, 2018-09-24)."""
        rolling = (definition.get("UpdatePolicy") or {}).get("AutoScalingRollingUpdate") or {}
        if rolling and int(rolling.get("MinInstancesInService", 0)) >= int(new["MaxSize"]):
            raise ResourceError("MinInstancesInService must be less than the autoscaling group's MaxSize")

    def create(self, context: Context, properties: Properties) -> str:
        """Create the group, and fail with its last activity if its instances do not start."""
        tags = [*properties.get("Tags", []), *_stack_tags(context)]
        name = super().create(context, {**properties, "Tags": tags})
        try:
            self._wait(context, name)
        except ResourceError:
            context.call(
                "autoscaling", "DeleteAutoScalingGroup", {"AutoScalingGroupName": name, "ForceDelete": True}
            )
            raise
        return name

    def update(self, context: Context, physical_id: str, old: Properties, new: Properties) -> str:
        """Update the group, with the sizes of the template.

        A change sets them again (reference of AWS::AutoScaling::ScheduledAction); the local AWS has no update policies.
        """
        changed = {key for key in {*old, *new} if old.get(key) != new.get(key)} - {"Tags"}
        resized = {key: None for key in _SIZES if changed and key in new and key not in changed}
        super().update(context, physical_id, {**old, **resized}, new)
        self._wait(context, physical_id)
        return physical_id

    def delete(self, context: Context, physical_id: str, properties: Properties) -> None:  # noqa: ARG002 - a provider's signature
        """Scale the group to zero and delete it, which fails while instances are protected (aws/aws-cdk#18179, 2022-03-18)."""
        if self.read(context, physical_id, {}) is None:
            return
        named = {"AutoScalingGroupName": physical_id}
        context.call("autoscaling", "UpdateAutoScalingGroup", named | dict.fromkeys(_SIZES, 0))
        if (self.read(context, physical_id, {}) or {})["Instances"]:
            raise ResourceError(
                f"Group did not stabilize. Last scaling activity: {self._last_activity(context, physical_id)}"
            )
        context.call("autoscaling", "DeleteAutoScalingGroup", named)

    def _wait(self, context: Context, name: str) -> None:
        shown = self.read(context, name, {}) or {}
        if len(shown["Instances"]) < shown["DesiredCapacity"]:
            raise ResourceError(
                f"Group did not stabilize. Last scaling activity: {self._last_activity(context, name)}"
            )

    def _last_activity(self, context: Context, name: str) -> str:
        answer = context.call("autoscaling", "DescribeScalingActivities", {"AutoScalingGroupName": name})
        return answer["Activities"][0]["StatusMessage"] if answer["Activities"] else ""


def _stack_tags(context: Context) -> list[dict[str, Any]]:
    return [
        {"Key": key, "Value": part, "PropagateAtLaunch": True} for key, part in context.stack_tags().items()
    ]


class _GroupTags(Tagging):
    """Tags of groups, each of which names its group."""

    def apply(self, context: Context, target: str, old: Any, new: Any) -> None:
        """Replace the tags of a group with those of `new`."""
        before = {one["Key"]: one for one in old or []}
        after = {one["Key"]: one for one in new or []}
        named = {"ResourceId": target, "ResourceType": "auto-scaling-group"}
        changed = [{**one, **named} for key, one in after.items() if before.get(key) != one]
        removed = [{"Key": key, **named} for key in before if key not in after]
        if changed:
            context.call("autoscaling", "CreateOrUpdateTags", {"Tags": changed})
        if removed:
            context.call("autoscaling", "DeleteTags", {"Tags": removed})


PROVIDERS: Mapping[str, Provider] = {
    "AWS::AutoScaling::AutoScalingGroup": _Group.described(
        "autoscaling",
        "AutoScalingGroup",
        "AutoScalingGroupName",
        id_path="=AutoScalingGroupName",
        attribute_paths={"AutoScalingGroupName": "AutoScalingGroupName"},
        generates=("AutoScalingGroupName", 255),
        updates=("UpdateAutoScalingGroup", "AutoScalingGroupName"),
        sends={"Cooldown": "DefaultCooldown"},
        prepare=_group,
        tagging=_GroupTags(service="autoscaling"),
    )
}
