"""A cluster with three sources of capacity."""

from collections.abc import Mapping
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import assertions
from tests.unit.ultracluster.builders import block, new_stack
from tests.unit.ultracluster.capacity.three_sources import RESERVED, SPILL, cluster

from ultracluster import UltraCluster


@pytest.fixture(scope="module")
def three() -> UltraCluster:
    """A block, a reservation and on-demand nodes, in this order."""
    return cluster(new_stack(), block(), RESERVED, SPILL)


@pytest.fixture(scope="module")
def resources(three: UltraCluster) -> Mapping[str, Any]:
    """The resources of its template."""
    template = assertions.Template.from_stack(cdk.Stack.of(three)).to_json()
    return dict(template["Resources"])
