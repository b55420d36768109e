"""EC2 Image Builder, which moto lacks: components, recipes, configurations and pipelines, stored unchanged.

No instance starts and no component runs: a build is a fake AMI at once, with the tags of its distribution.
"""

import copy
import functools
import re
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


# What is created, read, updated and deleted

_KINDS = {
    "Component": "componentBuildVersionArn",
    "ImageRecipe": "imageRecipeArn",
    "InfrastructureConfiguration": "infrastructureConfigurationArn",
    "DistributionConfiguration": "distributionConfigurationArn",
    "ImagePipeline": "imagePipelineArn",
}
"""Kinds of resources, and the parameter with the ARN of one."""
_WITHOUT_UPDATE = frozenset({"Component", "ImageRecipe"})


def _refuse_absent(request: Request) -> None:
    """Refuse to refer to what does not exist: a recipe to components, a pipeline to its parts."""
    for component in request.parameters.get("components") or []:
        _get(request, component["componentArn"])
    if "ImagePipeline" in request.operation:
        for name in _KINDS.values():
            if name in request.parameters and name != _KINDS["ImagePipeline"]:
                _get(request, request.parameters[name])


def _create(request: Request, *, kind: str) -> Mapping[str, Any]:
    _refuse_absent(request)
    name, more = request.parameters["name"].lower().replace(" ", "-"), {}
    path = f"{re.sub('(?<=[a-z])(?=[A-Z])', '-', kind).lower()}/{name}"
    if version := request.parameters.get("semanticVersion"):
        path = f"{path}/{version}/1" if kind == "Component" else f"{path}/{version}"
        more = {"version": version, "type": "BUILD" if kind == "Component" else "AMI"}
    arn = request.arn("imagebuilder", path)
    return _keep(request, arn, **more) | {_KINDS[kind]: arn}


def _read(request: Request, *, kind: str) -> Mapping[str, Any]:
    return {kind[0].lower() + kind[1:]: _get(request, request.parameters[_KINDS[kind]])}


def _update(request: Request, *, kind: str) -> Mapping[str, Any]:
    _refuse_absent(request)
    return _change(request, request.parameters[_KINDS[kind]])


def _delete(request: Request, *, kind: str) -> Mapping[str, Any]:
    arn = request.parameters[_KINDS[kind]]
    _forget(request, arn)
    return {_KINDS[kind]: arn}


for _kind in _KINDS:
    handlers(f"Create{_kind}")(functools.partial(_create, kind=_kind))
    handlers(f"Get{_kind}")(functools.partial(_read, kind=_kind))
    handlers(f"Delete{_kind}")(functools.partial(_delete, kind=_kind))
    if _kind not in _WITHOUT_UPDATE:
        handlers(f"Update{_kind}")(functools.partial(_update, kind=_kind))


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
        image_id = ec2.register_image(Name=f"fake-{pipeline['name']}-{number}")["ImageId"]
        # moto keeps neither; all instance types with Neuron devices have this architecture, and Amazon Linux 2023 this root device.
        registered = ec2_backends[ACCOUNT][region].amis[image_id]
        registered.architecture, registered.root_device_name = "x86_64", "/dev/xvda"
        tags = distribution.get("amiDistributionConfiguration", {}).get("amiTags") or {}
        if tags:
            ec2.create_tags(
                Resources=[image_id], Tags=[{"Key": key, "Value": tag} for key, tag in tags.items()]
            )
        images = node_images(request.region)
        # The files of a node are those that its user data writes, on an AMI of AWS as on any other.
        if parent := images.get(recipe["parentImage"]) or next(iter(images.values()), None):
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
