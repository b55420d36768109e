"""What a submitted job changes in its definition: API_ContainerOverrides and API_NodeOverrides."""

import copy
import json
from collections.abc import Mapping
from typing import Any

from ultracluster_local.services.batch.node_ranges import nodes_of

__all__ = ["TOO_LONG", "are_too_long", "container_of_node", "with_overrides"]

_MOST = 8192  # https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_RunTask.html, overrides: with the characters of JSON
TOO_LONG = f"Container Overrides length must be at most {_MOST}"
"""Reason of a job that SubmitJob took with longer overrides: ASFHyP3/hyp3#3041 (2026-03-09)."""


def are_too_long(given: Mapping[str, Any]) -> bool:
    """Return whether a submission changes more of a container than RunTask takes; SubmitJob does not say so.

    Args:
        given: Job as submitted.
    """
    ranges = (given.get("nodeOverrides") or {}).get("nodePropertyOverrides") or [given]
    changes = [{"containerOverrides": [one.get("containerOverrides") or {}]} for one in ranges]
    return any(len(json.dumps(one, separators=(",", ":"))) > _MOST for one in changes)


def with_overrides(definition: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the containers of a job as DescribeJobs shows them, with the overrides of its submission.

    Args:
        definition: Job definition.
        given: Job as submitted.
    """
    if "nodeProperties" in definition:
        nodes = copy.deepcopy(definition["nodeProperties"])
        overrides = given.get("nodeOverrides") or {}
        nodes["numNodes"] = overrides.get("numNodes", nodes["numNodes"])
        for one in overrides.get("nodePropertyOverrides") or []:
            for node_range in nodes["nodeRangeProperties"]:
                if node_range["targetNodes"] == one["targetNodes"] and "container" in node_range:
                    node_range["container"] = _merged(
                        node_range["container"], one.get("containerOverrides") or {}
                    )
        return {"nodeProperties": nodes}
    if "containerProperties" in definition:
        overrides = given.get("containerOverrides") or {}
        container = {"networkInterfaces": [], **copy.deepcopy(definition["containerProperties"])}
        return {"container": _merged(container, overrides)}
    properties = copy.deepcopy(definition["ecsProperties"])
    (task,) = properties["taskProperties"]
    named = {
        one.get("name"): one
        for changed in (given.get("ecsPropertiesOverride") or {}).get("taskProperties") or []
        for one in changed.get("containers") or []
    }
    task["containers"] = [_merged(one, named.get(one.get("name"), {})) for one in task["containers"]]
    return {"ecsProperties": properties}


def _merged(container: Mapping[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
    merged = {**container, **overrides}
    for member, key in (("environment", "name"), ("resourceRequirements", "type")):
        by_key = {one[key]: one for one in (*(container.get(member) or ()), *(overrides.get(member) or ()))}
        if by_key:
            merged[member] = list(by_key.values())
    return merged


def container_of_node(nodes: Mapping[str, Any], index: int) -> dict[str, Any]:
    """Return the container of a node of a multi-node job; of nested ranges, the later one wins (API_NodeRangeProperty)."""
    found: dict[str, Any] = {}
    for node_range in nodes["nodeRangeProperties"]:
        if index in nodes_of(node_range["targetNodes"], nodes["numNodes"]):
            found = node_range.get("container") or {}
    return found
