from typing import Any

import aws_cdk as cdk
import pytest
from tests.unit.ultracluster.builders import IMAGE, IMAGE_ID, new_stack, of_type, only
from tests.unit.ultracluster.images.baked_ami import ami

from ultracluster_catalog.neuron.neuron_images import BAKED_IMAGE_TAG, NeuronImage

pytestmark = pytest.mark.slow


def test_nothing_is_made_at_a_deployment_and_nothing_on_a_schedule(baked: cdk.Stack) -> None:
    assert of_type(baked, "AWS::ImageBuilder::Image") == []
    assert "Schedule" not in only(baked, "AWS::ImageBuilder::ImagePipeline")


def test_the_recipe_is_pinned_encrypted_and_keeps_the_agent_of_systems_manager(baked: cdk.Stack) -> None:
    recipe = only(baked, "AWS::ImageBuilder::ImageRecipe")
    assert recipe["ParentImage"] == IMAGE_ID
    assert recipe["BlockDeviceMappings"][0]["Ebs"]["Encrypted"] is True
    assert recipe["AdditionalInstanceConfiguration"]["SystemsManagerAgent"]["UninstallAfterBuild"] is False


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


def test_the_build_instance_allows_no_inbound_traffic_and_https_out(baked: cdk.Stack) -> None:
    group = only(baked, "AWS::EC2::SecurityGroup")
    assert "SecurityGroupIngress" not in group
    assert [(rule["FromPort"], rule["ToPort"]) for rule in group["SecurityGroupEgress"]] == [(443, 443)]
    place = only(baked, "AWS::ImageBuilder::InfrastructureConfiguration")
    assert place["InstanceMetadataOptions"] == {"HttpTokens": "required", "HttpPutResponseHopLimit": 1}
    assert place["TerminateInstanceOnFailure"] is True
    assert place["SubnetId"] == "subnet-01234567"
