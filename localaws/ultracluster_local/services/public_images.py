"""AWS's public parameters for Neuron AMIs, and the AMIs that they name.

moto has the parameters of the ECS AMIs as AWS had them when its copy was made, without the AMIs; those are made here,
with the name and the date that the parameters say. It has no parameters of the Neuron DLAMIs: these are fakes, and
their names say so. Nothing is made before somebody asks for such a parameter.
"""

import functools
import hashlib
import re
from datetime import UTC, datetime
from typing import Any

from moto.ec2.models import ec2_backends
from moto.ec2.models.amis import Ami
from moto.ssm.models import Parameter, ParameterDict

from ultracluster_catalog.neuron.neuron import ECS_NEURON_AMI_PARAMETER, NEURON_DLAMI_PARAMETERS
from ultracluster_local.instance.environment import ACCOUNT
from ultracluster_local.instance.state import remembered

__all__ = ["install"]

_FAKES_DATED = datetime(2026, 8, 17, tzinfo=UTC)  # the day of SDK 2.32.0, whose parameters these are
_ECS_PREFIX = ECS_NEURON_AMI_PARAMETER.removesuffix("/recommended/image_id")
_DLAMI_PREFIX = "/aws/service/neuron/dlami"
_OWNER = "591542846629"  # of the ECS AMIs; moto looks for none


def install() -> None:
    """Let the first question for such a parameter make the AMIs of its Region."""
    load = ParameterDict._check_loading_status  # noqa: SLF001 - where moto loads its own public parameters

    @functools.wraps(load)
    def load_and_make(parameters: Any, key: str) -> None:
        load(parameters, key)
        if str(key or "").startswith((_ECS_PREFIX, _DLAMI_PREFIX)):
            _make_images(parameters)

    ParameterDict._check_loading_status = load_and_make  # noqa: SLF001


def _make_images(parameters: Any) -> None:
    region = parameters.region_name
    made = remembered("public-images", region=region, new=list[bool])
    if made:
        return
    made.append(True)
    if dict.__contains__(parameters, ECS_NEURON_AMI_PARAMETER):
        name = _value(parameters, ECS_NEURON_AMI_PARAMETER.replace("image_id", "image_name"))
        _make_image(region, _value(parameters, ECS_NEURON_AMI_PARAMETER), name, _day_of(name))
    for line, parameter in NEURON_DLAMI_PARAMETERS.items():
        image_id = f"ami-{hashlib.sha256(f'{region}/{line}'.encode()).hexdigest()[:17]}"
        _make_image(region, image_id, f"fake of the Neuron DLAMI {line}", _FAKES_DATED)
        dict.__setitem__(parameters, parameter, [_parameter(parameter, image_id)])


def _value(parameters: Any, name: str) -> str:
    return str(dict.__getitem__(parameters, name)[-1].value)


def _day_of(name: str) -> datetime:
    """The day in a name such as ``al2023-ami-ecs-neuron-hvm-2023.0.20261030-kernel-6.1-x86_64``."""
    match = re.search(r"\.(20[0-9]{6})-", name)
    return datetime.strptime(match[1], "%Y%m%d").replace(tzinfo=UTC) if match else _FAKES_DATED


def _make_image(region: str, image_id: str, name: str, created: datetime) -> None:
    backend = ec2_backends[ACCOUNT][region]
    if image_id not in backend.amis:
        backend.amis[image_id] = Ami(
            backend,
            image_id,
            name=name,
            description="A stand-in of the local AWS for one of AWS's public AMIs",
            architecture="x86_64",
            virtualization_type="hvm",
            owner_id=_OWNER,
            owner_alias="amazon",
            public=True,
            creation_date=created,
            region_name=region,
        )


def _parameter(name: str, value: str) -> Any:
    return Parameter(
        account_id=ACCOUNT,
        name=name,
        value=value,
        parameter_type="String",
        description=None,
        allowed_pattern=None,
        keyid=None,
        last_modified_date=_FAKES_DATED.timestamp(),
        version=1,
        data_type="aws:ec2:image",
        source_result=None,
    )
