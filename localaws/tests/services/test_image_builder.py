"""EC2 Image Builder of the local AWS: what it keeps, and what it refuses."""

from typing import Any

import pytest
from botocore.exceptions import ClientError
from tests.services.image_components import component

from ultracluster_local import LocalAws
from ultracluster_local.services.node_images import NodeImage, node_images

pytestmark = pytest.mark.slow


def code(call: Any, **parameters: Any) -> str:
    with pytest.raises(ClientError) as caught:
        call(**parameters)
    return str(caught.value.response["Error"]["Code"])


def test_a_name_has_a_version_once(builder: Any) -> None:
    arn = component(builder)
    assert arn == "arn:aws:imagebuilder:us-east-2:123456789012:component/nodes/1.0.0/1"
    assert code(component, builder=builder) == "ResourceAlreadyExistsException"
    component(builder, "1.0.1")
    shown = builder.get_component(componentBuildVersionArn=arn)["component"]
    assert (shown["name"], shown["version"], shown["data"]) == ("Nodes", "1.0.0", "x")


def test_what_is_used_is_not_deleted_and_what_is_missing_is_not_used(builder: Any) -> None:
    arn = component(builder)
    parts = {"name": "nodes", "semanticVersion": "1.0.0", "parentImage": "ami-0123456789abcdef0"}
    recipe = builder.create_image_recipe(**parts, components=[{"componentArn": arn}])["imageRecipeArn"]
    assert code(builder.delete_component, componentBuildVersionArn=arn) == "ResourceDependencyException"
    other = {**parts, "name": "other"}
    missing = arn.replace("nodes", "gone")
    assert (
        code(builder.create_image_recipe, **other, components=[{"componentArn": missing}])
        == "ResourceNotFoundException"
    )
    builder.delete_image_recipe(imageRecipeArn=recipe)
    builder.delete_component(componentBuildVersionArn=arn)
    assert code(builder.get_component, componentBuildVersionArn=arn) == "ResourceNotFoundException"


def test_a_recipe_is_read_back_as_it_was_created(builder: Any) -> None:
    settings = {
        "name": "nodes",
        "parentImage": "ami-0123456789abcdef0",
        "components": [{"componentArn": component(builder)}],
    }
    recipe = builder.create_image_recipe(semanticVersion="1.0.0", **settings)["imageRecipeArn"]

    shown = builder.get_image_recipe(imageRecipeArn=recipe)["imageRecipe"]

    settings |= {"version": "1.0.0", "type": "AMI", "arn": recipe}
    assert settings == {key: shown[key] for key in settings}


def test_a_pipeline_is_listed_and_replaced_until_it_is_deleted(builder: Any) -> None:
    place = builder.create_infrastructure_configuration(name="place", instanceProfileName="nodes")
    recipe = builder.create_image_recipe(
        name="nodes",
        semanticVersion="1.0.0",
        parentImage="ami-0123456789abcdef0",
        components=[{"componentArn": component(builder)}],
    )
    parts = {
        "imageRecipeArn": recipe["imageRecipeArn"],
        "infrastructureConfigurationArn": place["infrastructureConfigurationArn"],
    }
    arn = builder.create_image_pipeline(name="nodes", description="first", **parts)["imagePipelineArn"]
    assert [one["arn"] for one in builder.list_image_pipelines()["imagePipelineList"]] == [arn]
    assert (
        code(builder.delete_infrastructure_configuration, **dict([*parts.items()][1:]))
        == "ResourceDependencyException"
    )

    builder.update_image_pipeline(imagePipelineArn=arn, **parts)

    shown = builder.get_image_pipeline(imagePipelineArn=arn)["imagePipeline"]
    assert (shown["name"], "description" in shown) == ("nodes", False)
    missing = parts["imageRecipeArn"].replace("nodes", "gone")
    assert (
        code(builder.update_image_pipeline, imagePipelineArn=arn, **parts | {"imageRecipeArn": missing})
        == "ResourceNotFoundException"
    )
    builder.delete_image_pipeline(imagePipelineArn=arn)
    assert builder.list_image_pipelines()["imagePipelineList"] == []


def test_a_build_is_a_fake_ami_with_its_tags_in_each_region(builder: Any, local_aws: LocalAws) -> None:
    profile = {"name": "nodes", "instanceProfileName": "nodes"}
    place = builder.create_infrastructure_configuration(**profile)["infrastructureConfigurationArn"]
    recipe = builder.create_image_recipe(
        name="nodes",
        semanticVersion="1.0.0",
        parentImage="ami-0123456789abcdef0",
        components=[{"componentArn": component(builder)}],
    )["imageRecipeArn"]
    regions = ("us-east-1", "us-east-2")
    distribution = builder.create_distribution_configuration(
        name="nodes",
        distributions=[
            {"region": region, "amiDistributionConfiguration": {"amiTags": {"made-by": "nodes"}}}
            for region in regions
        ],
    )["distributionConfigurationArn"]
    pipeline = builder.create_image_pipeline(
        name="nodes",
        imageRecipeArn=recipe,
        infrastructureConfigurationArn=place,
        distributionConfigurationArn=distribution,
    )["imagePipelineArn"]

    seeded = NodeImage(files={"/run/launch": "echo launched\n"})
    node_images("us-east-2")["ami-0fedcba9876543210"] = seeded  # of another AMI than the parent
    build = builder.start_image_pipeline_execution(imagePipelineArn=pipeline)["imageBuildVersionArn"]

    image = builder.get_image(imageBuildVersionArn=build)["image"]
    assert image["state"]["status"] == "AVAILABLE"
    made = {ami["region"]: ami["image"] for ami in image["outputResources"]["amis"]}
    for region in regions:
        found = local_aws.client("ec2", region).describe_images(
            Owners=["self"], Filters=[{"Name": "tag:made-by", "Values": ["nodes"]}]
        )["Images"]
        assert [(one["ImageId"], one["Architecture"]) for one in found] == [(made[region], "x86_64")]
        assert node_images(region)[made[region]] == seeded  # its nodes run what the user data has written
    assert not local_aws.client("ec2", "us-east-1").describe_instances()["Reservations"]
