"""Nodes are refused, or warned about, before anything is defined."""

import dataclasses
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import assertions
from aws_cdk import aws_ec2 as ec2
from tests.unit.stacks.shown_warnings import shown
from tests.unit.ultracluster import builders
from tests.unit.ultracluster.builders import (
    RESERVATION,
    ZONE,
    allowed,
    network,
    new_stack,
    nodes,
    of_type,
    only,
    ultra_cluster,
    unpacked,
)
from tests.unit.ultracluster.nodes.launch_templates import launch_template, user_data

from ultracluster import CapacityBlock, ClusterPlacement
from ultracluster_catalog.machines.nic_layouts import NetworkInterface
from ultracluster_spec.findings import FindingsError
from ultracluster_spec.instance_type import get_instance_type

pytestmark = pytest.mark.slow

OWN = dataclasses.replace(get_instance_type("trn2.48xlarge"), name="trn9.48xlarge", vcpus=256)


def test_every_interface_is_in_the_group_of_the_cluster_and_none_is_public(stack: cdk.Stack) -> None:
    group = stack.resolve(nodes(stack).network.security_group.security_group_id)
    for each in launch_template(stack)["NetworkInterfaces"]:
        assert each["Groups"] == [group]
        assert "AssociatePublicIpAddress" not in each
    # EC2 refuses groups of the instance beside those of its interfaces.
    assert "SecurityGroupIds" not in launch_template(stack)


def test_tags_of_the_app_reach_what_nodes_consist_of_but_not_the_name_of_the_cluster(
    stack: cdk.Stack,
) -> None:
    nodes(stack, tags={"team": "vision"})
    cdk.Tags.of(stack.node.root).add("cost-center", "42")
    cdk.Tags.of(stack.node.root).add("ultracluster:cluster", "another")
    for specification in launch_template(stack)["TagSpecifications"]:
        tags = {tag["Key"]: tag["Value"] for tag in specification["Tags"]}
        assert tags == {"team": "vision", "cost-center": "42", "ultracluster:cluster": stack.stack_name}


def test_the_role_can_do_nothing_by_wildcard_and_nothing_of_the_jobs(stack: cdk.Stack) -> None:
    nodes(stack)
    statements = allowed(stack, "Nodes of the cluster")
    actions = {
        action
        for each in statements
        for action in ([each["Action"]] if isinstance(each["Action"], str) else each["Action"])
    }
    assert {action.split(":")[0] for action in actions} == {"ecs", "ssm", "ssmmessages"}
    assert not [action for action in actions if "*" in action]


def test_a_node_runs_what_its_user_data_packs(stack: cdk.Stack, tmp_path: Path) -> None:
    nodes(stack)
    script = user_data(stack).partition("#!/bin/bash\n")[2].partition("\n--==")[0]
    listed = script.replace('eval "$boot"', 'printf "%s\\n" "$boot"')
    done = subprocess.run(["bash", "-c", listed], capture_output=True, text=True, check=True)
    assert done.stdout in unpacked(user_data(stack))
    assert done.stdout.endswith('say "ready"\nexit 0\n')
    # A damaged one must not leave a node that joins unchecked.
    (tmp_path / "systemctl").write_text('#!/bin/sh\necho "$@"\n')
    (tmp_path / "systemctl").chmod(0o755)
    broken = re.sub(r"(<<'UC_PACKED'\n)....", r"\1", script)
    path = f"{tmp_path}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", broken], env={"PATH": path}, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (1, "mask --now ecs.service\n")


def test_a_type_that_a_user_describes_is_taken_wherever_a_name_is(stack: cdk.Stack) -> None:
    cluster = ultra_cluster(stack, instance_type=OWN, network=network(stack, instance_type=OWN))
    resources = only(stack, "AWS::Batch::ComputeEnvironment")["ComputeResources"]
    assert (resources["InstanceTypes"], resources["MaxvCpus"]) == (["trn9.48xlarge"], 4 * 256)
    assert cluster.nodes.instance_type is OWN
    assert cluster.network.zone_id == ZONE
    assertions.Annotations.from_stack(stack).has_warning("*", assertions.Match.string_like_regexp("UC4024"))


def test_a_type_of_the_catalogue_brings_no_warning_of_its_figures(stack: cdk.Stack) -> None:
    nodes(stack)
    assertions.Annotations.from_stack(stack).has_no_warning(
        "*", assertions.Match.string_like_regexp("UC4024")
    )


def test_rejects_scratch_that_a_type_cannot_have(stack: cdk.Stack) -> None:
    with pytest.raises(FindingsError, match="UC4026") as caught:
        nodes(stack, instance_type="inf2.48xlarge", scratch_path="/var")
    assert [(each.code, each.path) for each in caught.value.findings] == [
        ("UC4026", "scratch_path"),
        ("UC4027", "scratch_path"),
    ]


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


def test_nodes_take_the_tags_that_a_rollout_file_takes(stack: cdk.Stack) -> None:
    with pytest.raises(FindingsError, match=r"^UC2107: Test/Nodes: tags\.aws:team: got 'aws:team'"):
        nodes(stack, tags={"aws:team": "ml"})
    assert nodes(new_stack(), tags={"team": "ml"}).node.id == "Nodes"
