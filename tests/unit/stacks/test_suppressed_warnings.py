"""What a rollout file, or an app of one's own, has looked at is not shown by the CDK either."""

from pathlib import Path

import aws_cdk as cdk
import pytest
from constructs import IConstruct
from tests.unit.ultracluster import builders

from ultracluster_catalog.machines.nic_layouts import NetworkInterface
from ultracluster_stacks.config import load_rollout
from ultracluster_stacks.stacks.cluster_stage import ClusterStage

pytestmark = pytest.mark.synth

_ROLLOUT = """\
version: 1
waves:
  - name: first
    clusters:
      - name: train
        region: us-east-2
        zone_id: use2-az3
        instance_type: trn2.48xlarge
        nodes: 4
        image_id: ami-0123456789abcdef0
        capacity: {reservation_id: cr-0123456789abcdef0}
        network: {vpc_id: vpc-0123456789abcdef0, subnet_id: subnet-0123456789abcdef0, security_group_id: sg-0123456789abcdef0}
"""


def shown(scope: IConstruct) -> list[str]:
    """The codes of the warnings of ours that the CDK shows."""
    return [
        str(entry.data).partition(":")[0]
        for node in scope.node.find_all()
        for entry in node.node.metadata
        if entry.type == "aws:cdk:warning" and "ultracluster:UC" in str(entry.data)
    ]


@pytest.mark.parametrize(
    ("suppress", "codes"),
    [
        ("", ["UC3208", "UC3106"]),
        ("        suppress: {UC3106: rules are in place}\n", ["UC3208"]),
    ],
)
def test_what_a_rollout_file_suppresses_is_acknowledged(
    tmp_path: Path, suppress: str, codes: list[str]
) -> None:
    path = tmp_path / "rollout.yaml"
    path.write_text(_ROLLOUT + suppress)
    (wave,) = load_rollout(path).config.waves
    assert shown(ClusterStage(cdk.App(), config=wave.clusters[0])) == codes


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
