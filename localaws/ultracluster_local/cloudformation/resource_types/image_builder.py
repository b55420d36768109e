"""EC2 Image Builder."""

from collections.abc import Mapping

from ultracluster_local.cloudformation.providers import ApiProvider, Context, Provider, Tagging
from ultracluster_local.cloudformation.values import Properties

__all__ = ["PROVIDERS"]

_TAGS = Tagging(service="imagebuilder")


class _Named(ApiProvider):
    """A resource with an immutable name, which its update operation does not take."""

    def update(self, context: Context, physical_id: str, old: Properties, new: Properties) -> str:
        """Update all settings together, without the name."""
        sides = ({key: part for key, part in side.items() if key != "Name"} for side in (old, new))
        return super().update(context, physical_id, *sides)


def _configuration(kind: str) -> ApiProvider:
    key = f"{kind[0].lower()}{kind[1:]}Arn"
    return _Named.got(
        "imagebuilder", kind, key, id_path=key, updates=(f"Update{kind}", key), whole=True, tagging=_TAGS
    )


def _versioned(kind: str, key: str) -> ApiProvider:
    sends = {"Version": "SemanticVersion"}
    return ApiProvider.got("imagebuilder", kind, key, id_path=key, sends=sends, tagging=_TAGS)


PROVIDERS: Mapping[str, Provider] = {
    "AWS::ImageBuilder::Component": _versioned("Component", "componentBuildVersionArn"),
    "AWS::ImageBuilder::ImageRecipe": _versioned("ImageRecipe", "imageRecipeArn"),
    **{
        f"AWS::ImageBuilder::{kind}": _configuration(kind)
        for kind in ("InfrastructureConfiguration", "DistributionConfiguration", "ImagePipeline")
    },
}
