import dataclasses
import os
import re
import subprocess
from pathlib import Path

import aws_cdk as cdk
import pytest
from aws_cdk import assertions
from tests.unit.ultracluster.builders import (
    ZONE,
    allowed,
    network,
    nodes,
    only,
    unpacked,
)
from tests.unit.ultracluster.nodes.launch_templates import launch_template, user_data

import ultracluster as uc
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
    cluster = uc.UltraCluster(
        stack,
        "Cluster",
        instance_type=OWN,
        node_count=4,
        image_id="ami-0123456789abcdef0",
        network=network(stack, instance_type=OWN),
    )
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
