"""What an Auto Scaling group does is told on the default bus."""

from datetime import timedelta

import pytest
from tests.events.event_rules import heard, put_rule, queue
from tests.services.auto_scaling.groups_of_nodes import GROUP, create
from tests.services.ec2.blocks_and_instances import START, seed

from ultracluster_local import LocalAws

pytestmark = pytest.mark.slow


def test_launches_terminations_and_failures_are_events(local: LocalAws) -> None:
    seed()
    _, arn = queue(local)
    put_rule(local, arn, EventPattern='{"source": ["aws.autoscaling"]}')
    client = create(local)
    client.set_desired_capacity(AutoScalingGroupName=GROUP, DesiredCapacity=1)
    local.clock.advance(timedelta(seconds=1))
    assert [name for _, name in heard(local)] == ["EC2 Instance Launch Unsuccessful"]
    local.clock.set(START + timedelta(minutes=20))
    client.set_desired_capacity(AutoScalingGroupName=GROUP, DesiredCapacity=0)
    local.clock.advance(timedelta(seconds=1))
    assert [name for _, name in heard(local)][-2:] == [
        "EC2 Instance Launch Successful",
        "EC2 Instance Terminate Successful",
    ]
