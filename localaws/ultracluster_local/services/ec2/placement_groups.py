"""Placement groups, which moto lacks."""

from collections.abc import Mapping
from typing import Any

from ultracluster_local.instance.state import region_state
from ultracluster_local.services.ec2.errors import invalid_combination
from ultracluster_local.services.handlers import Handlers, Request, ServiceError, hex_id, tags_of

__all__ = ["handlers", "placement_groups"]

handlers = Handlers(service="ec2")


def placement_groups(region: str) -> dict[str, dict[str, Any]]:
    """Return the groups of a Region by name."""
    return region_state("ec2:placement-groups", region=region, new=dict)


@handlers("CreatePlacementGroup")
def create_placement_group(request: Request) -> Mapping[str, Any]:
    """Create a group; its name is unique in the Region."""
    name = request.parameters["GroupName"]
    groups = placement_groups(request.region)
    if name in groups:
        raise ServiceError("InvalidPlacementGroup.Duplicate", f"The placement group '{name}' already exists")
    strategy = request.parameters.get("Strategy", "cluster")
    partitions = request.parameters.get("PartitionCount")
    # API_CreatePlacementGroup and the limits of placement groups, EC2 User Guide.
    if partitions is not None and strategy != "partition":
        raise invalid_combination(
            "PartitionCount is only supported for placement groups of strategy partition",
        )
    if request.parameters.get("SpreadLevel") and strategy != "spread":
        raise invalid_combination(
            "SpreadLevel is only supported for placement groups of strategy spread",
        )
    group = {
        "GroupName": name,
        "GroupId": hex_id("pg"),
        "GroupArn": request.arn("ec2", f"placement-group/{name}"),
        "State": "available",
        "Strategy": request.parameters.get("Strategy", "cluster"),
        "Tags": tags_of(request.parameters, resource_type="placement-group"),
    }
    # What AWS answers without them: hashicorp/terraform-provider-aws, ec2_placement_group_test.go, and API_CreatePlacementGroup.
    if strategy == "spread":
        group["SpreadLevel"] = request.parameters.get("SpreadLevel") or "rack"
    elif strategy == "partition":
        group["PartitionCount"] = partitions or 2
    groups[name] = group
    return {"PlacementGroup": group}


@handlers("DescribePlacementGroups")
def describe_placement_groups(request: Request) -> Mapping[str, Any]:
    """Describe all placement groups, or the named ones."""
    groups = placement_groups(request.region)
    names = request.parameters.get("GroupNames") or []
    ids = request.parameters.get("GroupIds") or []
    by_id = {group["GroupId"]: group for group in groups.values()}
    for wanted, known in ((names, groups), (ids, by_id)):
        for name in wanted:
            if name not in known:
                raise ServiceError(
                    "InvalidPlacementGroup.Unknown", f"The placement group '{name}' is unknown"
                )
    if names or ids:
        return {"PlacementGroups": [groups[name] for name in names] + [by_id[one] for one in ids]}
    return {"PlacementGroups": list(groups.values())}


@handlers("DeletePlacementGroup")
def delete_placement_group(request: Request) -> Mapping[str, Any]:
    """Delete a group."""
    name = request.parameters["GroupName"]
    if placement_groups(request.region).pop(name, None) is None:
        raise ServiceError("InvalidPlacementGroup.Unknown", f"The placement group '{name}' is unknown")
    return {}
