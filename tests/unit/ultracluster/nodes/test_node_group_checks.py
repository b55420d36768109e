"""Nodes are refused, or warned about, before anything is defined."""

from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from tests.unit.stacks.shown_warnings import shown
from tests.unit.ultracluster import builders
from tests.unit.ultracluster.builders import RESERVATION, nodes, of_type

from ultracluster import CapacityBlock, ClusterPlacement, RootVolume
from ultracluster_catalog.machines.nic_layouts import NetworkInterface
from ultracluster_spec.findings import FindingsError

pytestmark = pytest.mark.slow


def test_rejects_scratch_that_a_type_cannot_have(stack: cdk.Stack) -> None:
    with pytest.raises(FindingsError, match="UC4026") as caught:
        nodes(stack, instance_type="inf2.48xlarge", scratch_path="/var")
    assert [finding.code for finding in caught.value.findings] == ["UC4026", "UC4027"]


@pytest.mark.parametrize("before", [True, False])
def test_an_app_acknowledges_our_warnings_by_their_id(*, before: bool) -> None:
    stack = builders.new_stack()
    rule = cdk.Acknowledgment(id="ultracluster:UC4016", reason="two cards are enough for this test")
    interfaces = [
        NetworkInterface(card=0, device=0, interface_type="efa"),
        NetworkInterface(card=1, device=0, interface_type="efa-only"),
    ]
    if before:
        cdk.Validations.of(stack).acknowledge(rule)
    builders.nodes(stack, nic_layout=interfaces)
    if not before:
        assert "UC4016" in shown(stack)
        cdk.Validations.of(stack).acknowledge(rule)
    assert "UC4016" not in shown(stack)


@pytest.mark.parametrize(
    ("instance_type", "launched_by", "warned"),
    [
        ("trn2.48xlarge", "batch", True),
        ("trn2.48xlarge", "auto-scaling", False),
        ("p5.48xlarge", "batch", False),
    ],
)
def test_warns_of_a_launch_into_a_block_that_nobody_has_shown(
    stack: cdk.Stack, instance_type: str, launched_by: Any, *, warned: bool
) -> None:
    own = CapacityBlock(reservation_id=RESERVATION, zone_id=builders.ZONE, launched_by=launched_by)
    nodes(stack, instance_type=instance_type, capacity=own)

    assert ("UC4152" in shown(stack)) is warned


def test_rejects_capacity_in_another_zone_than_the_network(stack: cdk.Stack) -> None:
    other = CapacityBlock(reservation_id=RESERVATION, zone_id="use2-az1")
    with pytest.raises(FindingsError, match=r"UC4021: \S+: capacity: the capacity is in 'use2-az1'"):
        nodes(stack, capacity=other)


@pytest.mark.parametrize(
    "volume", [{"size_gib": 29}, {"size_gib": 65_537}, {"throughput": 124}, {"throughput": 751}]
)
def test_rejects_a_root_volume_that_gp3_cannot_be(stack: cdk.Stack, volume: dict[str, int]) -> None:
    with pytest.raises(FindingsError, match=f"UC2252: .*root_volume.{next(iter(volume))}"):
        nodes(stack, root_volume=RootVolume(**volume))


@pytest.mark.parametrize(("size", "throughput"), [(30, 125), (65_536, 750)])
def test_a_root_volume_is_what_its_value_says(stack: cdk.Stack, size: int, throughput: int) -> None:
    nodes(stack, root_volume=RootVolume(size_gib=size, throughput=throughput))
    (template,) = of_type(stack, "AWS::EC2::LaunchTemplate")
    disk = template["Properties"]["LaunchTemplateData"]["BlockDeviceMappings"][0]["Ebs"]
    assert (disk["VolumeSize"], disk["Throughput"], disk["Iops"]) == (size, throughput, 3_000)


def test_says_everything_that_is_wrong_at_once(stack: cdk.Stack) -> None:
    other = CapacityBlock(reservation_id=RESERVATION, zone_id="use2-az1")
    with pytest.raises(FindingsError) as caught:
        nodes(stack, capacity=other, image_id="latest", placement=ClusterPlacement(stack, "Placement"))
    assert [finding.code for finding in caught.value.findings] == ["UC4020", "UC4021", "UC4110"]


def test_rejects_user_data_that_a_node_cannot_add(stack: cdk.Stack) -> None:
    with pytest.raises(FindingsError, match=r"UC4151: .*user_data"):
        nodes(stack, user_data="mkdir /data")


@pytest.mark.parametrize("kind", ["text", "construct"])
def test_further_user_data_is_the_second_part(stack: cdk.Stack, kind: str) -> None:
    script = "#!/bin/bash\n".ljust(2_048, "x")
    given: object = script
    if kind == "construct":
        given = ec2.UserData.custom(script)
    made = nodes(stack, user_data=given)
    (template,) = of_type(stack, "AWS::EC2::LaunchTemplate")
    text = str(template["Properties"]["LaunchTemplateData"]["UserData"])
    assert text.count("text/x-shellscript") == 2
    assert text.index("refused to join") < text.index("x" * 2_000)
    assert made.file_system is None
