"""Groups are shown with the defaults of the service, and name what they do not have."""

import pytest
from botocore.exceptions import ClientError
from tests.services.auto_scaling.groups_of_nodes import GROUP, create, nodes, shown
from tests.services.ec2.blocks_and_instances import START

from ultracluster_local import LocalAws

pytestmark = pytest.mark.slow


def test_a_group_has_its_sizes_and_the_defaults_of_the_service(local: LocalAws) -> None:
    group = shown(create(local, MaxSize=3))
    assert (group["MinSize"], group["DesiredCapacity"], group["MaxSize"]) == (0, 0, 3)
    assert (group["DefaultCooldown"], group["HealthCheckType"]) == (300, "EC2")
    assert group["NewInstancesProtectedFromScaleIn"] is False


def test_an_instance_is_shown_with_its_template_and_its_protection(local: LocalAws) -> None:
    client = create(local, NewInstancesProtectedFromScaleIn=True)
    local.clock.set(START)
    client.set_desired_capacity(AutoScalingGroupName=GROUP, DesiredCapacity=1)
    (node,) = shown(client)["Instances"]
    assert (node["InstanceId"], node["ProtectedFromScaleIn"]) == (nodes(client)[0], True)
    assert (node["LaunchTemplate"]["Version"], node["HealthStatus"]) == ("1", "Healthy")


def test_an_instance_of_another_group_and_an_unknown_group_are_refused(local: LocalAws) -> None:
    client = create(local)
    with pytest.raises(ClientError, match="i-0123456789abcdef0 is not part of Auto Scaling group nodes"):
        client.set_instance_protection(
            AutoScalingGroupName=GROUP, InstanceIds=["i-0123456789abcdef0"], ProtectedFromScaleIn=True
        )
    with pytest.raises(ClientError, match="AutoScalingGroup name not found"):
        client.set_desired_capacity(AutoScalingGroupName="other", DesiredCapacity=0)
