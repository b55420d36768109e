"""Auto Scaling groups and secrets."""

import json
from collections.abc import Mapping
from typing import Any

from ultracluster_local.cloudformation.errors import ResourceError
from ultracluster_local.cloudformation.providers import ApiProvider, Context, Provider, Tagging
from ultracluster_local.cloudformation.values import Properties, tag_changes, to_api
from ultracluster_local.instance.clients import service_model

__all__ = ["PROVIDERS"]

_NAME = "AutoScalingGroupName"
_SERVICE = "autoscaling"


class _Group(Provider):
    def create(self, context: Context, properties: Properties) -> str:
        """Create the group with its instances."""
        name = str(properties.get(_NAME) or context.generated_name(limit=255))
        self._call(context, "CreateAutoScalingGroup", {**properties, _NAME: name})
        return name

    @staticmethod
    def _call(context: Context, operation: str, properties: Properties) -> None:
        given = dict(properties)
        if "VPCZoneIdentifier" in given:
            given["VPCZoneIdentifier"] = ",".join(given["VPCZoneIdentifier"])
        if "Tags" in given:
            given["Tags"] = [
                {**tag, "ResourceId": given[_NAME], "ResourceType": "auto-scaling-group"}
                for tag in given["Tags"]
            ]
        shape = service_model(_SERVICE).operation_model(operation).input_shape
        context.call(_SERVICE, operation, to_api(shape, given))

    def read(self, context: Context, physical_id: str, properties: Properties) -> Mapping[str, Any] | None:  # noqa: ARG002 - the service knows
        """Return the group with CloudFormation's forms."""
        found = context.call(_SERVICE, "DescribeAutoScalingGroups", {"AutoScalingGroupNames": [physical_id]})
        if not found["AutoScalingGroups"]:
            return None
        shown = dict(found["AutoScalingGroups"][0])
        shown["VPCZoneIdentifier"] = [one for one in shown.get("VPCZoneIdentifier", "").split(",") if one]
        shown["Tags"] = [
            {name: tag[name] for name in ("Key", "Value", "PropagateAtLaunch")}
            for tag in shown.get("Tags") or []
        ]
        sizes = ("MinSize", "MaxSize", "DesiredCapacity", "DefaultCooldown")
        return shown | {name: str(shown[name]) for name in sizes if name in shown}

    def refuse_update(self, definition: Mapping[str, Any], new: Properties) -> None:
        """Refuse a rolling update that keeps every instance (awsdocs/aws-cloudformation-user-guide#164, 2018-09-24)."""
        rolling = (definition.get("UpdatePolicy") or {}).get("AutoScalingRollingUpdate") or {}
        if rolling and int(rolling.get("MinInstancesInService", 0)) >= int(new["MaxSize"]):
            raise ResourceError("MinInstancesInService must be less than the autoscaling group's MaxSize")

    def update(self, context: Context, physical_id: str, old: Properties, new: Properties) -> str:
        """Update the group in place; its instances stay as they are."""
        rest = {key: part for key, part in new.items() if key != "Tags" and part != old.get(key)}
        if rest:
            self._call(context, "UpdateAutoScalingGroup", {**rest, _NAME: physical_id})
        put, removed = tag_changes(old.get("Tags"), new.get("Tags"))
        where = {"ResourceId": physical_id, "ResourceType": "auto-scaling-group"}
        if put:
            tags = [tag | where for tag in new.get("Tags") or [] if tag["Key"] in put]
            context.call(_SERVICE, "CreateOrUpdateTags", {"Tags": tags})
        if removed:
            context.call(_SERVICE, "DeleteTags", {"Tags": [{"Key": key, **where} for key in removed]})
        return physical_id

    def delete(self, context: Context, physical_id: str, properties: Properties) -> None:
        """Delete the group with its instances."""
        if self.read(context, physical_id, properties) is not None:
            context.call(_SERVICE, "DeleteAutoScalingGroup", {_NAME: physical_id, "ForceDelete": True})


class _Secret(ApiProvider):
    def create(self, context: Context, properties: Properties) -> str:
        """Create the secret, with a generated value if the template asks for one."""
        given = {**properties, "Name": properties.get("Name") or context.generated_name(limit=512)}
        generated = given.pop("GenerateSecretString", None)
        if generated is not None:
            given["SecretString"] = self._generated(context, generated)
        return super().create(context, given)

    @staticmethod
    def _generated(context: Context, wanted: Mapping[str, Any]) -> str:
        shape = service_model("secretsmanager").operation_model("GetRandomPassword").input_shape
        rest = {
            key: part
            for key, part in wanted.items()
            if key not in {"SecretStringTemplate", "GenerateStringKey"}
        }
        password = context.call("secretsmanager", "GetRandomPassword", to_api(shape, rest))["RandomPassword"]
        if "GenerateStringKey" not in wanted:
            return str(password)
        values = json.loads(wanted.get("SecretStringTemplate") or "{}")
        return json.dumps(values | {wanted["GenerateStringKey"]: password})


PROVIDERS: Mapping[str, Provider] = {
    "AWS::AutoScaling::AutoScalingGroup": _Group(),
    "AWS::SecretsManager::Secret": _Secret(
        service="secretsmanager",
        creates="CreateSecret",
        id_path="ARN",
        deletes=("DeleteSecret", "SecretId"),
        reads=("DescribeSecret", "SecretId", "@"),
        attribute_paths={"Id": "ARN"},
        updates=("UpdateSecret", "SecretId"),
        updatable=frozenset({"Description", "KmsKeyId", "SecretString"}),
        tagging=Tagging(service="secretsmanager", target="SecretId"),
    ),
}
