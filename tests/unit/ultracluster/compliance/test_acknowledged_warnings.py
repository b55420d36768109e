"""What a rollout file, or an app of one's own, has looked at is not shown by the CDK either."""

import aws_cdk as cdk
import pytest
from tests.unit.stacks.shown_warnings import shown
from tests.unit.ultracluster import builders

from ultracluster_catalog.machines.nic_layouts import NetworkInterface

pytestmark = pytest.mark.synth


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
