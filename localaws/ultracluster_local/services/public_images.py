"""Public SSM parameters of AWS for Neuron AMIs, and the AMIs that they name.

moto has a recorded copy of the parameters of the ECS AMIs, without the AMIs; those are created here,
with the name and date of the parameters. It has no parameters of the Neuron DLAMIs: these are fakes, and
their names say so. Nothing is created before such a parameter is first read.

moto itself has a thousand public AMIs in each Region, which it creates with each new state of EC2. Here they are created
when an AMI or a snapshot is first read.
"""

import functools
import hashlib
import re
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from moto.ec2.models import ec2_backends
from moto.ec2.models.amis import Ami, AmiBackend
from moto.ec2.models.elastic_block_store import EBSBackend
from moto.ssm.models import Parameter, ParameterDict

from ultracluster_local.instance.environment import ACCOUNT
from ultracluster_local.instance.state import region_state
from ultracluster_local.services.replacing import instead_of

__all__ = ["install"]

_FAKES_DATED = datetime(
    2026, 8, 17, tzinfo=UTC
)  # release date of Neuron SDK 2.32.0, whose parameters these are
# Amazon ECS Developer Guide, retrieving Amazon ECS-optimized Linux AMI metadata:
# https://docs.aws.amazon.com/AmazonECS/latest/developerguide/retrieve-ecs-optimized_AMI.html
_ECS_PREFIX = "/aws/service/ecs/optimized-ami/amazon-linux-2023/neuron"
_ECS_PARAMETER = f"{_ECS_PREFIX}/recommended/image_id"
# Neuron documentation, Neuron DLAMI User Guide, SSM parameters (SDK 2.32.0):
# https://awsdocs-neuron.readthedocs-hosted.com/en/latest/dlami/index.html
_DLAMI_PREFIX = "/aws/service/neuron/dlami"
_DLAMI_NAMES = (
    "base/amazon-linux-2023",
    "base/ubuntu-24.04",
    "multi-framework/ubuntu-24.04",
    "jax-0.10/amazon-linux-2023",
    "jax-0.10/ubuntu-24.04",
    "pytorch-2.9/ubuntu-24.04",
)
# Public parameters of AMIs that are known only from published templates; any name below them is a fake.
_OTHER_PREFIXES = ("/aws/service/canonical/", "/aws/service/deeplearning/ami/", "/aws/service/pcs/ami/")
_OWNER = "591542846629"  # owner of the ECS AMIs; moto does not check it


@instead_of(ParameterDict, "_check_loading_status")
def _load_and_make(original: Any, parameters: Any, key: str) -> None:
    """Create the AMIs of a Region when one of these parameters is first read; here moto loads its own."""
    original(parameters, key)
    if str(key or "").startswith((_ECS_PREFIX, _DLAMI_PREFIX)):
        _make_images(parameters)
    if str(key or "").startswith(_OTHER_PREFIXES) and not dict.__contains__(parameters, key):
        _make_other(parameters, key)


@instead_of(Ami, "__init__")
def _dated(original: Any, image: Any, *arguments: Any, **settings: Any) -> None:
    """Date the public AMIs of moto, which are all of today, as their names say, and say where an AMI is."""
    if settings.get("owner_id") not in {None, ACCOUNT} and settings.get("creation_date") is None:
        settings["creation_date"] = _day_of(settings.get("name") or "")
    original(image, *arguments, **settings)
    image.image_location = image.image_location or f"{image.owner_alias or image.owner_id}/{image.name}"


def install() -> None:
    """Create moto's AMIs when one of them is first read, not with each new state of EC2."""
    create_public = AmiBackend._load_amis  # noqa: SLF001 - moto calls it with each new state
    AmiBackend._load_amis = _postpone  # noqa: SLF001
    AmiBackend.amis = _with_public_images("amis", create_public)
    EBSBackend.snapshots = _with_public_images("snapshots", create_public)


def _postpone(ec2: Any) -> None:
    ec2.public_images_missing = True


_CREATING = threading.RLock()  # creating them reads both attributes


def _with_public_images(name: str, create_public: Callable[[Any], None]) -> property:
    def read(ec2: Any) -> Any:
        with _CREATING:
            if vars(ec2).pop("public_images_missing", False):
                create_public(ec2)
        return vars(ec2)[name]

    return property(read, lambda ec2, value: vars(ec2).update({name: value}))


def _make_images(parameters: Any) -> None:
    region = parameters.region_name
    made = region_state("public-images", region=region, new=list[bool])
    if made:
        return
    made.append(True)
    if dict.__contains__(parameters, _ECS_PARAMETER):
        name = _value(parameters, _ECS_PARAMETER.replace("image_id", "image_name"))
        _make_image(region, _value(parameters, _ECS_PARAMETER), name, _day_of(name))
    for name in _DLAMI_NAMES:
        parameter = f"{_DLAMI_PREFIX}/{name}/latest/image_id"
        image_id = f"ami-{hashlib.sha256(f'{region}/{name}'.encode()).hexdigest()[:17]}"
        _make_image(region, image_id, f"fake of the Neuron DLAMI {name}", _FAKES_DATED)
        dict.__setitem__(parameters, parameter, [_parameter(parameter, image_id)])


def _make_other(parameters: Any, name: str) -> None:
    image_id = f"ami-{hashlib.sha256(f'{parameters.region_name}/{name}'.encode()).hexdigest()[:17]}"
    _make_image(parameters.region_name, image_id, f"fake of {name}", _FAKES_DATED)
    dict.__setitem__(parameters, name, [_parameter(name, image_id)])


def _value(parameters: Any, name: str) -> str:
    return str(dict.__getitem__(parameters, name)[-1].value)


@functools.cache  # each new state of EC2 has the same thousand images
def _day_of(name: str) -> datetime:
    """Return the date in a name such as ``al2023-ami-ecs-neuron-hvm-2023.0.20261030-kernel-6.1-x86_64``."""
    match = re.search(r"[.-](20\d\d)\.?(0[1-9]|1[0-2])\.?([0-2]\d|3[01])(?:\D|$)", name)
    return datetime(int(match[1]), int(match[2]), int(match[3]), tzinfo=UTC) if match else _FAKES_DATED


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
