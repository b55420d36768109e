"""Instance types that compute environments take: sizes, families and bundles."""

import functools
from collections.abc import Iterable

from moto.ec2.models.instance_types import INSTANCE_TYPES

from ultracluster_local.instance.clients import service_model
from ultracluster_local.services.batch.state import refused

__all__ = ["BUNDLES", "architectures", "check_instance_types", "family_of"]

BUNDLES = {"optimal": "x86_64", "default_x86_64": "x86_64", "default_arm64": "arm64"}
"""Architecture of the bundles that AWS Batch chooses from: API_ComputeResource, instanceTypes."""


def check_instance_types(wanted: Iterable[str]) -> None:
    """Refuse unknown types, and types of different architectures.

    Raises:
        ServiceError: If there are some.
    """
    known = _known()
    for name in wanted:
        if name not in known:  # AWS's error message, from Netflix/metaflow#70
            raise refused(f"Instance type can only be one of [{', '.join(sorted(known))}]")
    if len(architectures(wanted)) > 1:  # badmintoncryer/cdk-preflight
        raise refused("arm-based instance type cannot be used with other instance types")


@functools.cache
def _known() -> frozenset[str]:
    """Return the types that Batch lists: EC2's types and their families. The model of EC2 also has types that are no longer sold."""
    types = {*INSTANCE_TYPES, *service_model("ec2").shape_for("InstanceType").enum}
    return frozenset({*types, *map(family_of, types), *BUNDLES})


def family_of(name: str) -> str:
    """Return the family of an instance type, such as ``trn1`` of ``trn1.32xlarge``."""
    return name.split(".", maxsplit=1)[0]


def architectures(wanted: Iterable[str]) -> frozenset[str]:
    """Return the architectures of instance types, as far as they are known."""
    found = set()
    for name in wanted:
        found.add(BUNDLES.get(name) or _by_family().get(family_of(name)))
    return frozenset(one for one in found if one)


@functools.cache
def _by_family() -> dict[str, str]:
    found = {}
    for name, facts in INSTANCE_TYPES.items():
        supported = facts["ProcessorInfo"]["SupportedArchitectures"]
        found[family_of(name)] = "arm64" if "arm64" in supported else "x86_64"
    return found
