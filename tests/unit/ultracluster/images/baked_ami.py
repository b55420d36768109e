"""A recipe of an AMI, and its parts."""

from typing import Any

import aws_cdk as cdk
from tests.unit.ultracluster.builders import IMAGE_ID, new_stack

from ultracluster import NeuronAmi
from ultracluster_catalog.neuron.neuron_images import NeuronImage

PARENT = NeuronImage(kind="ecs-neuron", image_id=IMAGE_ID)


def ami(stack: cdk.Stack | None = None, **changes: Any) -> NeuronAmi:
    return NeuronAmi(stack or new_stack(), "Ami", **{"name": "nodes", "parent": PARENT} | changes)
