"""EC2 Image Builder, which moto lacks: components, recipes, configurations and pipelines, stored unchanged.

No instance starts and no component runs: a build is a fake AMI at once, with the tags of its distribution.
"""

import copy
import uuid
from collections.abc import Mapping
from typing import Any

from moto.ec2.models import ec2_backends

from ultracluster_local.instance.environment import ACCOUNT
from ultracluster_local.instance.running import running
from ultracluster_local.instance.state import region_state
from ultracluster_local.services.handlers import Handlers, Request, ServiceError
from ultracluster_local.services.node_images import node_images

__all__ = ["handlers"]

handlers = Handlers(service="imagebuilder")

_NOT_KEPT = frozenset({"clientToken", "dryRun", "semanticVersion"})


def _things(request: Request) -> dict[str, dict[str, Any]]:
    return region_state("imagebuilder", region=request.region, new=dict)


def _get(request: Request, arn: str) -> dict[str, Any]:
    try:
        return _things(request)[arn]
    except KeyError:
        raise ServiceError("ResourceNotFoundException", f"The resource {arn} does not exist") from None


def _keep(request: Request, arn: str, **more: Any) -> dict[str, Any]:
    things = _things(request)
    if arn in things:
        # ministryofjustice/modernisation-platform-ami-builds#549 (2023-08-31)
        kind = "".join(word.capitalize() for word in arn.split(":")[5].split("/", maxsplit=1)[0].split("-"))
        problem = f"The following resource '{kind}' already exists: '{arn}'."
        raise ServiceError("ResourceAlreadyExistsException", problem)
    given = {key: copy.deepcopy(value) for key, value in request.parameters.items() if key not in _NOT_KEPT}
    things[arn] = {"tags": {}, **given, "arn": arn, **more}
    return {"requestId": str(uuid.uuid4()), "clientToken": request.parameters.get("clientToken", "")}


def _arn(request: Request, kind: str, *more: str) -> str:
    name = request.parameters["name"].lower().replace(" ", "-")
    return request.arn("imagebuilder", "/".join([kind, name, *more]))


def _change(request: Request, arn: str) -> Mapping[str, Any]:
    """Replace all settings except name and tags, as the update operations do."""
    thing = _get(request, arn)
    kept = {key: thing[key] for key in ("name", "tags", "arn")}
    thing.clear()
    thing |= kept
    # The ARN in the request names the resource and is not a setting.
    thing |= {
        key: copy.deepcopy(value)
        for key, value in request.parameters.items()
        if key not in _NOT_KEPT and value != arn
    }
    return {"requestId": str(uuid.uuid4())}


def _forget(request: Request, arn: str) -> None:
    """Delete a resource unless another refers to it: pipelines first, then recipes, then the rest."""
    _get(request, arn)
    for other in _things(request).values():
        if other["arn"] != arn and arn in str(other):
            # pulumi/pulumi#6919 (2021-04-29)
            problem = f"The resource ARN '{arn}' has other resources depended on it."
            raise ServiceError("ResourceDependencyException", f"Resource dependency error: {problem}")
    del _things(request)[arn]


def _refers(request: Request, *names: str) -> None:
    for name in names:
        if name in request.parameters:
            _get(request, request.parameters[name])


# Components


@handlers("CreateComponent")
def create_component(request: Request) -> Mapping[str, Any]:
    """Create a component; name and version are unique."""
    version = request.parameters["semanticVersion"]
    arn = f"{_arn(request, 'component')}/{version}/1"
    return _keep(request, arn, version=version, type="BUILD") | {"componentBuildVersionArn": arn}


@handlers("GetComponent")
def get_component(request: Request) -> Mapping[str, Any]:
    """Describe a component with its document."""
    return {"component": _get(request, request.parameters["componentBuildVersionArn"])}


@handlers("DeleteComponent")
def delete_component(request: Request) -> Mapping[str, Any]:
    """Delete a component that no recipe uses."""
    _forget(request, request.parameters["componentBuildVersionArn"])
    return {"componentBuildVersionArn": request.parameters["componentBuildVersionArn"]}


# Recipes


@handlers("CreateImageRecipe")
def create_image_recipe(request: Request) -> Mapping[str, Any]:
    """Create a recipe of existing components; name and version are unique."""
    for component in request.parameters.get("components") or []:
        _get(request, component["componentArn"])
    version = request.parameters["semanticVersion"]
    arn = f"{_arn(request, 'image-recipe')}/{version}"
    return _keep(request, arn, version=version, type="AMI") | {"imageRecipeArn": arn}


@handlers("GetImageRecipe")
def get_image_recipe(request: Request) -> Mapping[str, Any]:
    """Describe a recipe."""
    return {"imageRecipe": _get(request, request.parameters["imageRecipeArn"])}


@handlers("DeleteImageRecipe")
def delete_image_recipe(request: Request) -> Mapping[str, Any]:
    """Delete a recipe that no pipeline uses."""
    _forget(request, request.parameters["imageRecipeArn"])
    return {"imageRecipeArn": request.parameters["imageRecipeArn"]}


# Infrastructure


@handlers("CreateInfrastructureConfiguration")
def create_infrastructure_configuration(request: Request) -> Mapping[str, Any]:
    """Create a configuration."""
    arn = _arn(request, "infrastructure-configuration")
    return _keep(request, arn) | {"infrastructureConfigurationArn": arn}


@handlers("GetInfrastructureConfiguration")
def get_infrastructure_configuration(request: Request) -> Mapping[str, Any]:
    """Describe a configuration."""
    arn = request.parameters["infrastructureConfigurationArn"]
    return {"infrastructureConfiguration": _get(request, arn)}


@handlers("UpdateInfrastructureConfiguration")
def update_infrastructure_configuration(request: Request) -> Mapping[str, Any]:
    """Replace its settings."""
    return _change(request, request.parameters["infrastructureConfigurationArn"])


@handlers("DeleteInfrastructureConfiguration")
def delete_infrastructure_configuration(request: Request) -> Mapping[str, Any]:
    """Delete a configuration that no pipeline uses."""
    _forget(request, request.parameters["infrastructureConfigurationArn"])
    return {}


# Distribution


@handlers("CreateDistributionConfiguration")
def create_distribution_configuration(request: Request) -> Mapping[str, Any]:
    """Create a configuration."""
    arn = _arn(request, "distribution-configuration")
    return _keep(request, arn) | {"distributionConfigurationArn": arn}


@handlers("GetDistributionConfiguration")
def get_distribution_configuration(request: Request) -> Mapping[str, Any]:
    """Describe a configuration."""
    arn = request.parameters["distributionConfigurationArn"]
    return {"distributionConfiguration": _get(request, arn)}


@handlers("UpdateDistributionConfiguration")
def update_distribution_configuration(request: Request) -> Mapping[str, Any]:
    """Replace its settings."""
    return _change(request, request.parameters["distributionConfigurationArn"])


@handlers("DeleteDistributionConfiguration")
def delete_distribution_configuration(request: Request) -> Mapping[str, Any]:
    """Delete a configuration that no pipeline uses."""
    _forget(request, request.parameters["distributionConfigurationArn"])
    return {}


# Pipelines

_PARTS_OF_PIPELINE = ("imageRecipeArn", "infrastructureConfigurationArn", "distributionConfigurationArn")


@handlers("CreateImagePipeline")
def create_image_pipeline(request: Request) -> Mapping[str, Any]:
    """Create a pipeline of existing resources."""
    _refers(request, *_PARTS_OF_PIPELINE)
    arn = _arn(request, "image-pipeline")
    return _keep(request, arn) | {"imagePipelineArn": arn}


@handlers("GetImagePipeline")
def get_image_pipeline(request: Request) -> Mapping[str, Any]:
    """Describe a pipeline."""
    return {"imagePipeline": _get(request, request.parameters["imagePipelineArn"])}


@handlers("UpdateImagePipeline")
def update_image_pipeline(request: Request) -> Mapping[str, Any]:
    """Replace its settings."""
    _refers(request, *_PARTS_OF_PIPELINE)
    return _change(request, request.parameters["imagePipelineArn"])


@handlers("DeleteImagePipeline")
def delete_image_pipeline(request: Request) -> Mapping[str, Any]:
    """Delete a pipeline."""
    _forget(request, request.parameters["imagePipelineArn"])
    return {"imagePipelineArn": request.parameters["imagePipelineArn"]}


@handlers("ListImagePipelines")
def list_image_pipelines(request: Request) -> Mapping[str, Any]:
    """List all pipelines."""
    return {"imagePipelineList": [one for arn, one in _things(request).items() if ":image-pipeline/" in arn]}


@handlers("StartImagePipelineExecution")
def start_image_pipeline_execution(request: Request) -> Mapping[str, Any]:
    """Register a fake AMI in each Region of the distribution, which is a node image as its parent is."""
    pipeline = _get(request, request.parameters["imagePipelineArn"])
    recipe = _get(request, pipeline["imageRecipeArn"])
    number = 1 + sum(":image/" in arn for arn in _things(request))
    arn = request.arn("imagebuilder", f"image/{recipe['name'].lower()}/{recipe['version']}/{number}")
    distributions: list[dict[str, Any]] = [{"region": request.region}]
    if given := pipeline.get("distributionConfigurationArn"):
        distributions = _get(request, given)["distributions"]
    amis = []
    for distribution in distributions:
        region = distribution["region"]
        ec2 = running().clients.get("ec2", region)
        image_id = ec2.register_image(Name=f"fake-{pipeline['name']}-{number}", RootDeviceName="/dev/xvda")[
            "ImageId"
        ]
        # moto keeps no architecture; all instance types with Neuron devices have this one.
        ec2_backends[ACCOUNT][region].amis[image_id].architecture = "x86_64"
        tags = distribution.get("amiDistributionConfiguration", {}).get("amiTags") or {}
        if tags:
            ec2.create_tags(
                Resources=[image_id], Tags=[{"Key": key, "Value": tag} for key, tag in tags.items()]
            )
        parent = node_images(request.region).get(recipe["parentImage"])
        if parent:
            node_images(region)[image_id] = parent
        amis.append({"region": region, "image": image_id, "accountId": ACCOUNT})
    _things(request)[arn] = {
        "arn": arn,
        "name": recipe["name"],
        "version": recipe["version"],
        "state": {"status": "AVAILABLE"},
        "outputResources": {"amis": amis},
        "tags": {},
    }
    return {"imageBuildVersionArn": arn}


@handlers("GetImage")
def get_image(request: Request) -> Mapping[str, Any]:
    """Describe an image that a pipeline has built."""
    return {"image": _get(request, request.parameters["imageBuildVersionArn"])}


# Tags


@handlers("TagResource")
def tag_resource(request: Request) -> Mapping[str, Any]:
    """Add or replace tags."""
    _get(request, request.parameters["resourceArn"])["tags"] |= request.parameters["tags"]
    return {}


@handlers("UntagResource")
def untag_resource(request: Request) -> Mapping[str, Any]:
    """Remove tags."""
    tags = _get(request, request.parameters["resourceArn"])["tags"]
    for key in request.parameters["tagKeys"]:
        tags.pop(key, None)
    return {}


@handlers("ListTagsForResource")
def list_tags_for_resource(request: Request) -> Mapping[str, Any]:
    """List tags."""
    return {"tags": _get(request, request.parameters["resourceArn"])["tags"]}
