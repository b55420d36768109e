"""An AMI is baked by a pipeline, whose role names each action, and its arguments are refused together."""

import json
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_ecs as ecs
from tests.unit.ultracluster.builders import IMAGE, IMAGE_ID, new_stack, of_type, only
from tests.unit.ultracluster.images.baked_ami import ami

from ultracluster import ContainerImage
from ultracluster_catalog.neuron.neuron_images import BAKED_IMAGE_TAG, NeuronImage
from ultracluster_spec.findings import FindingsError

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


def test_the_role_may_pull_images_of_the_app(stack: cdk.Stack) -> None:
    images = ecr.Repository(stack, "Images")
    given = [
        ContainerImage.from_repository(images, "1"),
        ecs.ContainerImage.from_ecr_repository(images, "2"),
    ]
    ami(stack, container_images=given)

    (policy,) = of_type(stack, "AWS::IAM::Policy")
    pulls = [
        one
        for one in policy["Properties"]["PolicyDocument"]["Statement"]
        if "ecr:BatchGetImage" in one["Action"]
    ]
    assert {json.dumps(one["Resource"]) for one in pulls} == {
        json.dumps(stack.resolve(images.repository_arn))
    }
    with pytest.raises(FindingsError, match=r"container_images\[0\]"):
        ami(stack, container_images=[ecs.ContainerImage.from_asset(".")])


SUM = "0" * 64


def codes(**changes: Any) -> list[str]:
    with pytest.raises(FindingsError) as caught:
        ami(**changes)
    return [f"{finding.code} {finding.path}" for finding in caught.value.findings]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"parent": NeuronImage(kind="dlami/base/ubuntu-24.04", image_id=IMAGE_ID)}, ["UC4051 parent"]),
        ({"efa_installer_version": "1.50.0"}, ["UC4052 efa_installer_version"]),
        ({"efa_installer_version": "latest", "efa_installer_sha256": SUM}, ["UC4052 efa_installer_version"]),
        ({"efa_installer_sha256": "0" * 63}, ["UC4052 efa_installer_version"]),
        ({"container_images": ["public.ecr.aws/neuron/x:1"]}, ["UC4053 container_images[0]"]),
        ({"container_images": [IMAGE, IMAGE.partition(":")[0]]}, ["UC4053 container_images[1]"]),
        ({"container_images": [f"{IMAGE}' ; true"]}, ["UC4053 container_images[0]"]),
        ({"name": "ab"}, ["UC4054 name"]),
        ({"name": "a" * 65}, ["UC4054 name"]),
        ({"name": "no des"}, ["UC4054 name"]),
        ({"root_volume_gib": 29}, ["UC4054 root_volume_gib"]),
        ({"regions": ["us-east-1", "us-east-1"]}, ["UC4054 regions[1]"]),
        ({"regions": ["Ohio"]}, ["UC4054 regions[0]"]),
        ({"name": "", "efa_installer_version": "1.0.0"}, ["UC4052 efa_installer_version", "UC4054 name"]),
        ({"container_images": [f"{IMAGE}{index}" for index in range(80)]}, ["UC4054 container_images"]),
    ],
)
def test_rejects_invalid_arguments(changes: dict[str, Any], expected: list[str]) -> None:
    assert codes(**changes) == expected


def test_rejects_a_subnet_without_its_vpc() -> None:
    stack = new_stack()
    subnet = ec2.Subnet.from_subnet_id(stack, "Subnet", "subnet-01234567")
    assert codes(stack=stack, subnet=subnet) == ["UC4054 subnet"]


def test_accepts_arguments_at_their_limits() -> None:
    digest = f"{IMAGE.partition(':')[0]}@sha256:{SUM}"
    token = cdk.Token.as_string({"Ref": "Image"})
    made = ami(
        name="a1b",
        container_images=[digest, token],
        efa_installer_version="1.50.0",
        efa_installer_sha256=SUM,
        root_volume_gib=30,
    )
    assert made.name == "a1b"
    assert made.pipeline_arn
    assert made.grant_principal
    ami(name="a" * 64)
