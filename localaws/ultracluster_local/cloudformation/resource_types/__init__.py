"""Providers of the resource types that the local AWS can deploy, by service."""

from collections.abc import Mapping
from typing import Any

from ultracluster_local.cloudformation.custom_resources import CustomResource, is_custom
from ultracluster_local.cloudformation.providers import Provider
from ultracluster_local.cloudformation.resource_types import (
    batch,
    dynamodb,
    ec2,
    ec2_network,
    ec2_routing,
    ec2_security_groups,
    encryption,
    events,
    fsx,
    functions,
    iam,
    image_builder,
    messages,
    s3,
    watching,
)

__all__ = ["PROVIDERS", "provider_of", "unsupported_types"]

PROVIDERS: Mapping[str, Provider] = {
    **ec2_network.PROVIDERS,
    **ec2_routing.PROVIDERS,
    **ec2_security_groups.PROVIDERS,
    **ec2.PROVIDERS,
    **iam.PROVIDERS,
    **s3.PROVIDERS,
    **fsx.PROVIDERS,
    **image_builder.PROVIDERS,
    **batch.PROVIDERS,
    **encryption.PROVIDERS,
    **messages.PROVIDERS,
    **events.PROVIDERS,
    **functions.PROVIDERS,
    **watching.PROVIDERS,
    **dynamodb.PROVIDERS,
}

_CUSTOM = CustomResource()


def provider_of(resource_type: str) -> Provider:
    """Return the provider of a type.

    Raises:
        KeyError: If there is none.
    """
    return _CUSTOM if is_custom(resource_type) else PROVIDERS[resource_type]


def unsupported_types(template: Mapping[str, Any]) -> list[str]:
    """Return the resource types of a template that the local AWS cannot deploy, sorted."""
    types = {resource["Type"] for resource in template["Resources"].values()}
    return sorted(one for one in types if not is_custom(one) and one not in PROVIDERS)
