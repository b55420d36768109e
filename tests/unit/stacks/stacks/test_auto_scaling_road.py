"""The quick start with one line changed: an Auto Scaling group starts the nodes."""

from datetime import timedelta
from pathlib import Path

import pytest
from tests.cfn_lint import lint
from tests.unit.stacks.conftest import QUICKSTART

from ultracluster_local import LocalAws
from ultracluster_local.deploy import deploy_assembly, read_assembly
from ultracluster_local.seeding.seed import seed_capacity_block
from ultracluster_stacks.config import load_rollout
from ultracluster_stacks.synthesis.in_process import synthesize

pytestmark = [pytest.mark.synth, pytest.mark.deploy]

REGION = "us-east-2"


def test_quick_start_deploys_and_its_nodes_join(
    local_aws: LocalAws, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CDK_VALIDATION", "false")
    line = "          market_type: capacity-block\n"
    text = QUICKSTART.read_text()
    assert text.count(line) == 1
    image = local_aws.client("ec2", REGION).register_image(Name="nodes", RootDeviceName="/dev/xvda")[
        "ImageId"
    ]
    path = tmp_path / "rollout.yaml"
    path.write_text(
        text.replace(line, f"{line}          launched_by: auto-scaling\n").replace(
            "ami-0123456789abcdef0", image
        )
    )
    (cluster,) = load_rollout(path).config.clusters()
    synthesize([cluster], tmp_path / "cdk.out")
    for stack in read_assembly(tmp_path / "cdk.out"):
        assert [str(each) for each in lint(stack.template.read_text(), regions=[REGION])] == []
    start = local_aws.clock.now() + timedelta(hours=1)
    seed_capacity_block(
        reservation_id=cluster.capacity.reservation_id,
        instance_type=cluster.instance_type,
        count=cluster.nodes,
        zone_id=cluster.zone_id,
        start=start,
        end=start + timedelta(days=1),
        region=REGION,
    )
    results = deploy_assembly(local_aws, tmp_path / "cdk.out")
    assert {(each.status, each.reason) for each in results} == {("CREATE_COMPLETE", "")}
    groups = local_aws.client("autoscaling", REGION)
    (group,) = groups.describe_auto_scaling_groups()["AutoScalingGroups"]
    local_aws.clock.set(start)
    groups.set_desired_capacity(
        AutoScalingGroupName=group["AutoScalingGroupName"], DesiredCapacity=cluster.nodes
    )
    batch = local_aws.client("batch", REGION)
    (environment,) = batch.describe_compute_environments()["computeEnvironments"]
    joined = local_aws.client("ecs", REGION).list_container_instances(cluster=environment["ecsClusterArn"])
    assert len(joined["containerInstanceArns"]) == cluster.nodes
