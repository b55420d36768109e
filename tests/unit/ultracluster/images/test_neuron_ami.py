from typing import Any

import aws_cdk as cdk
import pytest
from tests.unit.ultracluster.builders import IMAGE, new_stack, of_type, only
from tests.unit.ultracluster.images.baked_ami import ami

from ultracluster_catalog.neuron.neuron_images import BAKED_IMAGE_TAG, NeuronImage

pytestmark = pytest.mark.slow


def test_nothing_is_made_at_a_deployment_and_nothing_on_a_schedule(baked: cdk.Stack) -> None:
    assert of_type(baked, "AWS::ImageBuilder::Image") == []
    assert "Schedule" not in only(baked, "AWS::ImageBuilder::ImagePipeline")


def test_only_changed_recipes_get_another_name() -> None:
    def names(**changes: Any) -> tuple[str, str]:
        stack = new_stack()
        ami(stack, **changes)
        kinds = ("AWS::ImageBuilder::Component", "AWS::ImageBuilder::ImageRecipe")
        component, recipe = (only(stack, kind)["Name"] for kind in kinds)
        return component, recipe

    first = names()
    assert names() == first
    assert names(regions=["us-east-1"]) == first
    other_image = names(parent=NeuronImage(kind="ecs-neuron", image_id="ami-00000000000000001"))
    assert other_image[0] == first[0]
    assert other_image[1] != first[1]
    for change in ({"cloudwatch_agent": False}, {"container_images": [IMAGE]}):
        component, recipe = names(**change)
        assert component != first[0]
        assert recipe != first[1]


def test_the_ami_is_tagged_in_each_region_so_that_the_command_finds_it(baked: cdk.Stack) -> None:
    spread = only(baked, "AWS::ImageBuilder::DistributionConfiguration")["Distributions"]
    assert [one["Region"] for one in spread] == ["us-east-2", "us-east-1"]
    for one in spread:
        assert one["AmiDistributionConfiguration"]["AmiTags"] == {BAKED_IMAGE_TAG: "nodes"}
        assert one["AmiDistributionConfiguration"]["Name"] == "nodes-{{ imagebuilder:buildDate }}"
