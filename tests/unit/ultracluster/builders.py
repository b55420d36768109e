"""Stacks to put constructs into, and the pieces that most of them need beside them."""

import base64
import bz2
import re
from datetime import UTC, datetime
from typing import Any

import aws_cdk as cdk
from aws_cdk import assertions

import ultracluster as uc
from ultracluster import Job
from ultracluster_catalog.machines.nic_layouts import NicLayout
from ultracluster_spec.values import fields_of

REGION = "us-east-2"
ZONE = "use2-az3"
IMAGE_ID = "ami-0123456789abcdef0"
RESERVATION = "cr-0123456789abcdef0"
IMAGE = "123456789012.dkr.ecr.us-east-2.amazonaws.com/training:2026-11-20"
STANDING_ORDER = uc.StandingOrder(
    nodes=4,
    days=14,
    start_after=datetime(2026, 12, 10, tzinfo=UTC),
    start_before=datetime(2027, 1, 15, tzinfo=UTC),
    max_usd=60_000,
    until=datetime(2027, 1, 15, tzinfo=UTC),
)


def new_stack() -> cdk.Stack:
    return cdk.Stack(
        cdk.App(analytics_reporting=False, tree_metadata=False, stack_traces=False),
        "Test",
        env=cdk.Environment(region=REGION),
    )


def block() -> uc.CapacityBlock:
    return uc.CapacityBlock(reservation_id=RESERVATION, zone_id=ZONE)


def network(stack: cdk.Stack, **changes: Any) -> uc.ClusterNetwork:
    return uc.ClusterNetwork(
        stack,
        "Network",
        **{"zone_id": ZONE, "instance_type": "trn2.48xlarge", "node_count": 4} | changes,
    )


def nodes(stack: cdk.Stack, *, nic_layout: NicLayout = "batch", **changes: Any) -> uc.NodeGroup:
    given = {"instance_type": "trn2.48xlarge", "image_id": IMAGE_ID} | changes
    if "network" not in given:
        given["network"] = network(stack, instance_type=given["instance_type"], nic_layout=nic_layout)
    return uc.NodeGroup(stack, "Nodes", **given)


def queue(stack: cdk.Stack, *, max_nodes: int = 4, **changes: Any) -> uc.TrainingQueue:
    return uc.TrainingQueue(stack, "Queue", nodes=nodes(stack, **changes), max_nodes=max_nodes)


def ultra_cluster(stack: cdk.Stack, construct_id: str = "Cluster", **changes: Any) -> uc.UltraCluster:
    given = {"instance_type": "trn2.48xlarge", "node_count": 4, "image_id": IMAGE_ID, "zone_id": ZONE}
    return uc.UltraCluster(stack, construct_id, **given | changes)


def unpacked(user_data: str) -> str:
    """User data with the packed script in plain text, as the node unpacks it."""
    before, packed, after = re.split("<<'UC_PACKED'\n|\nUC_PACKED\n", user_data)
    return before + bz2.decompress(base64.b85decode("".join(packed.split()))).decode() + after


def of_type(stack: cdk.Stack, resource_type: str) -> list[dict[str, Any]]:
    """The resources of one type of a stack."""
    found = assertions.Template.from_stack(stack).find_resources(resource_type)
    return [dict(resource) for resource in found.values()]


def only(stack: cdk.Stack, resource_type: str) -> dict[str, Any]:
    """Properties of the one resource of a type."""
    resources = of_type(stack, resource_type)
    assert len(resources) == 1
    return dict(resources[0]["Properties"])


def allowed(stack: cdk.Stack, role: str) -> list[dict[str, Any]]:
    """The statements that allow, of all policies of the roles with this beginning of a description; there are such roles."""
    template = assertions.Template.from_stack(stack)
    roles = {
        name: each["Properties"]
        for name, each in template.find_resources("AWS::IAM::Role").items()
        if each["Properties"].get("Description", "").startswith(role)
    }
    assert roles
    inline = [policy for each in roles.values() for policy in each.get("Policies", ())]
    attached = [
        policy["Properties"]
        for policy in template.find_resources("AWS::IAM::Policy").values()
        if any({"Ref": name} in policy["Properties"]["Roles"] for name in roles)
    ]
    return [
        each
        for policy in (*inline, *attached)
        for each in policy["PolicyDocument"]["Statement"]
        if each["Effect"] == "Allow"
    ]


def described(**given: Any) -> tuple[Job, dict[str, Any]]:
    """Divide the arguments of a job into its description and the others."""
    settings = {
        name: given.pop(name)
        for name in fields_of(Job).keys() & given.keys() - {"secrets"}
        if name != "image" or isinstance(given[name], str)
    }
    return Job(**settings), given
