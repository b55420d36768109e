"""EC2 Image Builder."""

from collections.abc import Mapping
from typing import Any

from ultracluster_local.cloudformation.providers import ApiProvider, Context, Provider, Tagging
from ultracluster_local.cloudformation.values import Properties

__all__ = ["PROVIDERS"]

_TAGS = Tagging(service="imagebuilder", target="resourceArn", tags="tags", keys="tagKeys")


def _versioned(context: Context, properties: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG001 - a provider's signature
    """Rename the version property to the API's name."""
    return {"SemanticVersion" if key == "Version" else key: part for key, part in properties.items()}


class _Named(ApiProvider):
    """A resource with an immutable name, which its update operation does not take."""

    def update(self, context: Context, physical_id: str, old: Properties, new: Properties) -> str:
        """Update all settings together, without the name."""
        sides = ({key: part for key, part in side.items() if key != "Name"} for side in (old, new))
        return super().update(context, physical_id, *sides)


def _configuration(kind: str, attribute: str) -> ApiProvider:
    argument = f"{attribute}Arn"
    return _Named(
        service="imagebuilder",
        creates=f"Create{kind}",
        id_path=argument,
        deletes=(f"Delete{kind}", argument),
        reads=(f"Get{kind}", argument, attribute),
        attribute_paths={"Arn": "arn"},
        updates=(f"Update{kind}", argument),
        tagging=_TAGS,
    )


PROVIDERS: Mapping[str, Provider] = {
    "AWS::ImageBuilder::Component": ApiProvider(
        service="imagebuilder",
        creates="CreateComponent",
        id_path="componentBuildVersionArn",
        deletes=("DeleteComponent", "componentBuildVersionArn"),
        reads=("GetComponent", "componentBuildVersionArn", "component"),
        attribute_paths={"Arn": "arn"},
        prepare=_versioned,
        tagging=_TAGS,
    ),
    "AWS::ImageBuilder::ImageRecipe": ApiProvider(
        service="imagebuilder",
        creates="CreateImageRecipe",
        id_path="imageRecipeArn",
        deletes=("DeleteImageRecipe", "imageRecipeArn"),
        reads=("GetImageRecipe", "imageRecipeArn", "imageRecipe"),
        attribute_paths={"Arn": "arn"},
        prepare=_versioned,
        tagging=_TAGS,
    ),
    "AWS::ImageBuilder::InfrastructureConfiguration": _configuration(
        "InfrastructureConfiguration", "infrastructureConfiguration"
    ),
    "AWS::ImageBuilder::DistributionConfiguration": _configuration(
        "DistributionConfiguration", "distributionConfiguration"
    ),
    "AWS::ImageBuilder::ImagePipeline": _configuration("ImagePipeline", "imagePipeline"),
}
