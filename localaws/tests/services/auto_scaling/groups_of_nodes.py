"""Auto Scaling groups of nodes in a Capacity Block, for their tests."""

import base64
from typing import Any

from tests.events.event_rules import REGION
from tests.services.ec2.blocks_and_instances import IMAGE, RESERVATION

from ultracluster_local import LocalAws

GROUP = "nodes"


def subnet(local: LocalAws, zone_id: str = "use2-az3", block: str = "10.0.0.0/24") -> str:
    """Create a subnet in a VPC of its own."""
    ec2 = local.client("ec2", REGION)
    network = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    made = ec2.create_subnet(VpcId=network, CidrBlock=block, AvailabilityZoneId=zone_id)
    return str(made["Subnet"]["SubnetId"])


def template(
    local: LocalAws, *, market: dict[str, Any] | None = None, user_data: str = "", **changes: Any
) -> str:
    """Create a launch template for nodes of the block."""
    ec2 = local.client("ec2", REGION)
    data: dict[str, Any] = {
        "ImageId": ec2.describe_images(Filters=IMAGE)["Images"][0]["ImageId"],
        "InstanceType": "trn2.48xlarge",
        "InstanceMarketOptions": {"MarketType": "capacity-block"},
        "CapacityReservationSpecification": {
            "CapacityReservationTarget": {"CapacityReservationId": RESERVATION}
        },
        **changes,
    }
    if market == {}:
        del data["InstanceMarketOptions"], data["CapacityReservationSpecification"]
    if user_data:
        data["UserData"] = base64.b64encode(user_data.encode()).decode()
    made = ec2.create_launch_template(LaunchTemplateName="nodes", LaunchTemplateData=data)
    return str(made["LaunchTemplate"]["LaunchTemplateId"])


def create(local: LocalAws, launch_template: str | None = None, **changes: Any) -> Any:
    """Create a group of at most four nodes, without any; return a client of the service."""
    client = local.client("autoscaling", REGION)
    request = {
        "AutoScalingGroupName": GROUP,
        "LaunchTemplate": {"LaunchTemplateId": launch_template or template(local), "Version": "1"},
        "MinSize": 0,
        "MaxSize": 4,
        "VPCZoneIdentifier": changes.pop("subnets", None) or subnet(local),
        **changes,
    }
    client.create_auto_scaling_group(**{key: part for key, part in request.items() if part is not None})
    return client


def shown(client: Any) -> dict[str, Any]:
    """Return the group."""
    (group,) = client.describe_auto_scaling_groups(AutoScalingGroupNames=[GROUP])["AutoScalingGroups"]
    found: dict[str, Any] = group
    return found


def nodes(client: Any) -> list[str]:
    """Return the IDs of the group's instances."""
    return [one["InstanceId"] for one in shown(client)["Instances"]]


def last_activity(client: Any) -> dict[str, Any]:
    """Return the newest activity of the group."""
    found: dict[str, Any] = client.describe_scaling_activities(AutoScalingGroupName=GROUP)["Activities"][0]
    return found
