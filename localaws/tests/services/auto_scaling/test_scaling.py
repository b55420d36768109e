"""Groups bring themselves to their desired capacity, in a Capacity Block and out of it."""

from datetime import timedelta
from typing import Any

import pytest
from tests.events.event_rules import MINUTE, REGION
from tests.services.auto_scaling.groups_of_nodes import (
    GROUP,
    create,
    last_activity,
    nodes,
    shown,
    subnet,
    template,
)
from tests.services.ec2.blocks_and_instances import END, RESERVATION, START

from ultracluster_local import LocalAws

pytestmark = pytest.mark.slow


def describe(local: LocalAws, instance_id: str) -> dict[str, Any]:
    answer = local.client("ec2", REGION).describe_instances(InstanceIds=[instance_id])
    found: dict[str, Any] = answer["Reservations"][0]["Instances"][0]
    return found


def test_group_launches_into_the_block_once_it_is_active(local: LocalAws) -> None:
    client = create(local)
    local.clock.set(START)
    client.set_desired_capacity(AutoScalingGroupName=GROUP, DesiredCapacity=4)
    assert len(nodes(client)) == 4
    first = describe(local, nodes(client)[0])
    assert (first["InstanceLifecycle"], first["CapacityReservationId"]) == ("capacity-block", RESERVATION)
    assert {"Key": "aws:autoscaling:groupName", "Value": GROUP} in first["Tags"]
    assert {one["LifecycleState"] for one in shown(client)["Instances"]} == {"InService"}


def test_launches_before_the_block_fail_and_are_tried_again(local: LocalAws) -> None:
    client = create(local)
    client.set_desired_capacity(AutoScalingGroupName=GROUP, DesiredCapacity=2)
    failed = last_activity(client)
    assert failed["StatusCode"] == "Failed"
    assert failed["StatusMessage"].endswith("Launching EC2 instance failed.")
    assert failed["StatusMessage"].startswith("The requested reservation does not have sufficient")
    assert nodes(client) == []
    local.clock.set(START - MINUTE)
    assert nodes(client) == []
    local.clock.set(START + timedelta(minutes=20))
    assert len(nodes(client)) == 2


def test_a_node_more_than_the_block_has_is_refused_in_the_activities(local: LocalAws) -> None:
    client = create(local, MaxSize=5)
    local.clock.set(START)
    client.set_desired_capacity(AutoScalingGroupName=GROUP, DesiredCapacity=5)
    assert len(nodes(client)) == 4
    assert (
        "does not have sufficient compatible and available capacity" in last_activity(client)["StatusMessage"]
    )


def test_a_subnet_in_another_zone_is_refused_at_the_launch(local: LocalAws) -> None:
    client = create(local, subnets=subnet(local, "use2-az1"))
    local.clock.set(START)
    client.set_desired_capacity(AutoScalingGroupName=GROUP, DesiredCapacity=1)
    assert nodes(client) == []
    assert last_activity(client)["StatusCode"] == "Failed"


def test_what_the_end_of_the_block_takes_is_replaced_in_vain(local: LocalAws) -> None:
    client = create(local)
    local.clock.set(START)
    client.set_desired_capacity(AutoScalingGroupName=GROUP, DesiredCapacity=2)
    local.clock.set(END - timedelta(minutes=29))
    local.clock.set(END + MINUTE)
    assert nodes(client) == []
    activities = client.describe_scaling_activities(AutoScalingGroupName=GROUP)["Activities"]
    causes = [one["Cause"] for one in activities]
    assert any("taken out of service in response to an EC2 health check" in one for one in causes)
    assert activities[0]["StatusCode"] == "Failed"


def test_a_terminated_node_is_replaced_in_the_block(local: LocalAws) -> None:
    client = create(local)
    local.clock.set(START)
    client.set_desired_capacity(AutoScalingGroupName=GROUP, DesiredCapacity=4)
    lost = nodes(client)[1]
    local.client("ec2", REGION).terminate_instances(InstanceIds=[lost])
    local.clock.advance(timedelta(minutes=2))
    assert len(nodes(client)) == 4
    assert lost not in nodes(client)


def test_protected_nodes_stay_when_the_desired_capacity_falls(local: LocalAws) -> None:
    client = create(local, NewInstancesProtectedFromScaleIn=True)
    local.clock.set(START)
    client.set_desired_capacity(AutoScalingGroupName=GROUP, DesiredCapacity=2)
    client.set_desired_capacity(AutoScalingGroupName=GROUP, DesiredCapacity=0)
    kept = nodes(client)
    assert len(kept) == 2
    assert "protected from scale-in" in last_activity(client)["StatusMessage"]
    client.set_instance_protection(AutoScalingGroupName=GROUP, InstanceIds=kept, ProtectedFromScaleIn=False)
    assert nodes(client) == []
    assert describe(local, kept[0])["State"]["Name"] == "terminated"


def test_protected_node_that_is_unhealthy_is_replaced(local: LocalAws) -> None:
    client = create(local, NewInstancesProtectedFromScaleIn=True)
    local.clock.set(START)
    client.set_desired_capacity(AutoScalingGroupName=GROUP, DesiredCapacity=1)
    (bad,) = nodes(client)
    client.set_instance_health(InstanceId=bad, HealthStatus="Unhealthy")
    assert len(nodes(client)) == 1
    assert bad not in nodes(client)


def test_terminated_by_request_it_is_replaced_unless_the_desired_capacity_falls(local: LocalAws) -> None:
    client = create(local)
    local.clock.set(START)
    client.set_desired_capacity(AutoScalingGroupName=GROUP, DesiredCapacity=2)
    first, second = nodes(client)
    client.terminate_instance_in_auto_scaling_group(InstanceId=first, ShouldDecrementDesiredCapacity=False)
    assert len(nodes(client)) == 2
    client.terminate_instance_in_auto_scaling_group(InstanceId=second, ShouldDecrementDesiredCapacity=True)
    assert len(nodes(client)) == 1
    assert shown(client)["DesiredCapacity"] == 1


def test_on_demand_nodes_start_at_once(local: LocalAws) -> None:
    client = create(local, template(local, market={}), DesiredCapacity=1)
    assert "InstanceLifecycle" not in describe(local, nodes(client)[0])


def test_network_interfaces_of_the_template_get_the_subnet(local: LocalAws) -> None:
    place = subnet(local)
    interfaces = [{"DeviceIndex": 0, "NetworkCardIndex": 0, "InterfaceType": "efa"}]
    client = create(local, template(local, NetworkInterfaces=interfaces), subnets=place)
    local.clock.set(START)
    client.set_desired_capacity(AutoScalingGroupName=GROUP, DesiredCapacity=1)
    assert describe(local, nodes(client)[0])["SubnetId"] == place


def test_a_group_terminates_also_what_is_protected_against_users(local: LocalAws) -> None:
    client = create(local, template(local, DisableApiTermination=True, DisableApiStop=True))
    local.clock.set(START)
    client.set_desired_capacity(AutoScalingGroupName=GROUP, DesiredCapacity=2)
    first, second = nodes(client)
    shown = local.client("ec2", REGION).describe_instance_attribute(
        InstanceId=first, Attribute="disableApiTermination"
    )
    assert shown["DisableApiTermination"]["Value"] is True

    client.set_desired_capacity(AutoScalingGroupName=GROUP, DesiredCapacity=0)
    assert nodes(client) == []
    assert {describe(local, one)["State"]["Name"] for one in (first, second)} == {"terminated"}
