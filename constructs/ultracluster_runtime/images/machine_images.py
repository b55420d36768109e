"""Find the AMI to pin a rollout to: from a public SSM parameter of AWS, or the newest image of a NeuronAmi.

Makes read-only calls: `ssm:GetParameter`, `ec2:DescribeImages`.
"""

import json
import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from botocore.exceptions import ClientError

from ultracluster_catalog.names.identifiers import IMAGE_ID
from ultracluster_catalog.neuron.neuron_images import BAKED_IMAGE_TAG
from ultracluster_runtime.functions.clients import Clients
from ultracluster_runtime.functions.responses import AWS_ERRORS, problem_of
from ultracluster_spec.findings import FindingsError, quote


@dataclass(frozen=True, kw_only=True, slots=True)
class MachineImage:
    """AMI in a Region."""

    region: str
    image_id: str
    name: str
    created: datetime

    def age_days(self, now: datetime) -> int:
        """Return the age in whole days."""
        return (now - self.created).days


def image_of_parameter(client: Clients, *, region: str, parameter: str) -> MachineImage:
    """Return the AMI that an SSM parameter names: by its ID, or in JSON with an ``image_id`` like the ECS parameters.

    The Region must have both, and AWS must answer.
    """
    try:
        value = client("ssm").get_parameter(Name=parameter)["Parameter"]["Value"]
    except AWS_ERRORS as error:
        if _code(error) == "ParameterNotFound":
            remedy = "Choose another AMI family, or your own AMI"
            raise _missing(region, f"no parameter {parameter}", remedy) from None
        raise _no_answer(region, error) from error
    image_id = _image_id(value)
    if image_id is None:
        raise _missing(region, f"{quote(value)} in {parameter}", "Name a parameter that holds an AMI ID")
    images = _describe(client, region, ImageIds=[image_id])
    if not images:
        raise _missing(
            region, f"no AMI {image_id}, which {parameter} names", "Check the launch permissions of the AMI"
        )
    return _found(images[0], region)


def newest_baked_image(client: Clients, *, region: str, name: str) -> MachineImage:
    """Return the newest AMI that a `NeuronAmi` of this name built in this account, by `BAKED_IMAGE_TAG`."""
    images = _describe(
        client,
        region,
        Owners=["self"],
        Filters=[
            {"Name": f"tag:{BAKED_IMAGE_TAG}", "Values": [name]},
            {"Name": "state", "Values": ["available"]},
        ],
    )
    if not images:
        raise _missing(
            region,
            f"no AMI in this account with the tag {BAKED_IMAGE_TAG}={name}",
            "Start the pipeline of the NeuronAmi, wait for its image, and distribute it to this Region",
        )
    return _found(max(images, key=lambda image: image["CreationDate"]), region)


def _describe(client: Clients, region: str, **request: Any) -> list[Any]:
    try:
        pages = client("ec2").get_paginator("describe_images").paginate(**request)
        return [image for page in pages for image in page["Images"]]
    except AWS_ERRORS as error:
        if _code(error).startswith("InvalidAMIID"):
            return []
        raise _no_answer(region, error) from error


def _code(error: Exception) -> str:
    return str(error.response["Error"]["Code"]) if isinstance(error, ClientError) else ""


def _image_id(value: str) -> str | None:
    if value.startswith("{"):
        try:
            value = str(json.loads(value).get("image_id"))
        except json.JSONDecodeError:
            return None
    return value if re.fullmatch(IMAGE_ID, value) else None


def _found(image: Any, region: str) -> MachineImage:
    return MachineImage(
        region=region,
        image_id=image["ImageId"],
        name=image["Name"],
        created=datetime.fromisoformat(image["CreationDate"]),
    )


def _missing(region: str, what: str, remedy: str) -> FindingsError:
    return FindingsError.message(f"{region} has {what}", remedy=remedy)


def _no_answer(region: str, error: Exception) -> FindingsError:
    remedy = "Check the credentials, their permissions and the Region"
    return FindingsError.message(f"{region}: {problem_of(error)}", remedy=remedy)
