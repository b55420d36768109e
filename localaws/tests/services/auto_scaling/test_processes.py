"""Suspended processes of a group."""

from datetime import timedelta

import pytest
from tests.services.auto_scaling.groups_of_nodes import GROUP, create, nodes, shown, template

from ultracluster_local import LocalAws

pytestmark = pytest.mark.slow

HOUR = timedelta(hours=1)


def test_a_suspended_process_is_shown_with_its_time_until_it_is_resumed(local: LocalAws) -> None:
    client = create(local)
    client.suspend_processes(AutoScalingGroupName=GROUP, ScalingProcesses=["Launch", "HealthCheck"])
    client.suspend_processes(AutoScalingGroupName=GROUP, ScalingProcesses=["Launch"])
    kept = shown(client)["SuspendedProcesses"]
    assert sorted(one["ProcessName"] for one in kept) == ["HealthCheck", "Launch"]
    since = f"{local.clock.now():%Y-%m-%dT%H:%M:%SZ}"  # cloud-custodian/cloud-custodian, tests/data/placebo/test_asg_resume
    assert {one["SuspensionReason"] for one in kept} == {f"User suspended at {since}"}

    client.resume_processes(AutoScalingGroupName=GROUP, ScalingProcesses=["Launch"])
    assert [one["ProcessName"] for one in shown(client)["SuspendedProcesses"]] == ["HealthCheck"]
    client.suspend_processes(AutoScalingGroupName=GROUP)
    assert len(shown(client)["SuspendedProcesses"]) == 9
    client.resume_processes(AutoScalingGroupName=GROUP)
    assert shown(client)["SuspendedProcesses"] == []


def test_what_is_suspended_does_not_happen(local: LocalAws) -> None:
    client = create(local, template(local, market={}), MinSize=0, DesiredCapacity=1)
    (first,) = nodes(client)

    client.suspend_processes(AutoScalingGroupName=GROUP, ScalingProcesses=["Terminate", "ReplaceUnhealthy"])
    client.set_desired_capacity(AutoScalingGroupName=GROUP, DesiredCapacity=0)
    assert nodes(client) == [first]
    client.set_desired_capacity(AutoScalingGroupName=GROUP, DesiredCapacity=1)
    client.set_instance_health(InstanceId=first, HealthStatus="Unhealthy")
    local.clock.advance(HOUR)
    assert nodes(client) == [first]

    client.suspend_processes(AutoScalingGroupName=GROUP, ScalingProcesses=["Launch"])
    client.resume_processes(AutoScalingGroupName=GROUP, ScalingProcesses=["Terminate", "ReplaceUnhealthy"])
    assert nodes(client) == []
    client.resume_processes(AutoScalingGroupName=GROUP)
    assert len(nodes(client)) == 1
    assert nodes(client) != [first]
