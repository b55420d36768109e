"""Findings are shown as warnings by their codes, which acknowledgments name."""

import aws_cdk as cdk
import pytest
from aws_cdk.assertions import Annotations, Match

from ultracluster._foundation.annotations import warn
from ultracluster_spec.findings import Finding

pytestmark = pytest.mark.slow


def test_each_finding_is_a_warning_that_can_be_acknowledged(stack: cdk.Stack) -> None:
    warn(stack, Finding("UC4022", "one"), Finding("UC4021", "two"))
    cdk.Annotations.of(stack).acknowledge_warning("ultracluster:UC4021")

    (entry,) = Annotations.from_stack(stack).find_warning("*", Match.any_value())
    assert "one" in str(entry.entry.data)
    assert "[ack: ultracluster:UC4022]" in str(entry.entry.data)
