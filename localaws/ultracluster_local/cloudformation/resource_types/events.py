"""EventBridge rules and schedules."""

from collections.abc import Mapping
from typing import Any

from ultracluster_local.cloudformation.providers import ApiProvider, Context, Provider, Tagging, unless_gone
from ultracluster_local.cloudformation.values import Properties, to_api
from ultracluster_local.instance.clients import service_model

__all__ = ["PROVIDERS"]


class _Rule(ApiProvider):
    """An EventBridge rule with its targets."""

    def create(self, context: Context, properties: Properties) -> str:
        name, bus = self._put(context, properties), properties.get("EventBusName", "default")
        return name if bus == "default" else f"{bus}|{name}"

    def _put(self, context: Context, properties: Properties) -> str:
        rest = {key: part for key, part in properties.items() if key != "Targets"}
        request = self._request(context, rest, "PutRule")
        context.call("events", "PutRule", request)
        if properties.get("Targets"):
            shape = service_model("events").operation_model("PutTargets").input_shape
            where = {"Rule": request["Name"], "EventBusName": properties.get("EventBusName", "default")}
            context.call("events", "PutTargets", to_api(shape, {**where, "Targets": properties["Targets"]}))
        return str(request["Name"])

    def update(self, context: Context, physical_id: str, old: Properties, new: Properties) -> str:
        name = physical_id.rsplit("|", 1)[-1]
        kept, before = ({one["Id"] for one in side.get("Targets") or []} for side in (new, old))
        self._remove_targets(context, name, new, sorted(before - kept))
        self._put(context, {key: part for key, part in new.items() if key != "Tags"} | {"Name": name})
        return super().update(context, physical_id, *({"Tags": side.get("Tags")} for side in (old, new)))

    def _remove_targets(self, context: Context, name: str, properties: Properties, ids: list[str]) -> None:
        if ids:
            request = {"Rule": name, "EventBusName": properties.get("EventBusName", "default"), "Ids": ids}
            context.call("events", "RemoveTargets", request)

    def delete(self, context: Context, physical_id: str, properties: Properties) -> None:
        name = physical_id.rsplit("|", 1)[-1]
        ids = [one["Id"] for one in properties.get("Targets") or []]
        with unless_gone():
            self._remove_targets(context, name, properties, ids)
        super().delete(context, physical_id, properties)


def _rule_name(context: Context, physical_id: str, properties: Properties) -> Mapping[str, Any]:  # noqa: ARG001 - a provider's signature
    return {"Name": physical_id.rsplit("|", 1)[-1], "EventBusName": properties.get("EventBusName", "default")}


def _schedule_name(context: Context, physical_id: str, properties: Properties) -> Mapping[str, Any]:  # noqa: ARG001 - a provider's signature
    group = {"GroupName": properties["GroupName"]} if "GroupName" in properties else {}
    return {"Name": physical_id, **group}


_TAGS = Tagging(service="events", attribute="Arn")

PROVIDERS: Mapping[str, Provider] = {
    "AWS::Events::Rule": _Rule(
        service="events",
        creates="PutRule",
        id_path="RuleArn",
        deletes=("DeleteRule", _rule_name),
        reads=("DescribeRule", _rule_name, "@"),
        attribute_paths={"RuleName": "Name"},
        generates=("Name", 64),
        apart=frozenset({"Targets"}),
        tagging=_TAGS,
    ),
    "AWS::Events::EventBus": ApiProvider(
        service="events",
        creates="CreateEventBus",
        id_path="=Name",
        deletes=("DeleteEventBus", "Name"),
        reads=("DescribeEventBus", "Name", "@"),
        attribute_paths={"Name": "Name"},
        tagging=_TAGS,
    ),
    "AWS::Scheduler::ScheduleGroup": ApiProvider(
        service="scheduler",
        creates="CreateScheduleGroup",
        id_path="=Name",
        deletes=("DeleteScheduleGroup", "Name"),
        reads=("GetScheduleGroup", "Name", "@"),
        generates=("Name", 64),
        tagging=Tagging(service="scheduler", attribute="Arn"),
    ),
    "AWS::Scheduler::Schedule": ApiProvider(
        service="scheduler",
        creates="CreateSchedule",
        updates=("UpdateSchedule", "Name"),
        whole=True,
        id_path="=Name",
        deletes=("DeleteSchedule", _schedule_name),
        reads=("GetSchedule", _schedule_name, "@"),
        generates=("Name", 64),
    ),
}
