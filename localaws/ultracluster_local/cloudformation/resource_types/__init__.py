"""Providers of the resource types that the local AWS can deploy, by service."""

from collections.abc import Mapping
from typing import Any

from ultracluster_local.cloudformation.custom_resources import CustomResource, is_custom
from ultracluster_local.cloudformation.providers import Provider
from ultracluster_local.cloudformation.registry import schemas
from ultracluster_local.cloudformation.resource_types import (
    auto_scaling,
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
    s3_files,
    secrets,
    watching,
)

__all__ = ["PROVIDERS", "provider_of", "refused_types", "unknown_types", "unsupported_types"]
from ultracluster_local.cloudformation.resource_types.recorded import Recorded

PROVIDERS: dict[str, Provider] = {
    **ec2_network.PROVIDERS,
    **ec2_routing.PROVIDERS,
    **ec2_security_groups.PROVIDERS,
    **ec2.PROVIDERS,
    **auto_scaling.PROVIDERS,
    **iam.PROVIDERS,
    **s3.PROVIDERS,
    **fsx.PROVIDERS,
    **s3_files.PROVIDERS,
    **image_builder.PROVIDERS,
    **batch.PROVIDERS,
    **encryption.PROVIDERS,
    **messages.PROVIDERS,
    **events.PROVIDERS,
    **functions.PROVIDERS,
    **watching.PROVIDERS,
    **dynamodb.PROVIDERS,
    **secrets.PROVIDERS,
}

_CUSTOM = CustomResource()
_RECORDED = Recorded()
_NOT_RECORDED = frozenset({"AWS::CloudFormation::StackSet"})
"""Types whose resources are more than themselves: to record them would claim that all of it is deployed."""
_NOT_SIMULATED = frozenset({"AWS::AutoScaling::LifecycleHook"})
"""Types that change what another resource does: to record them only would let that resource act otherwise than on AWS."""


def provider_of(resource_type: str) -> Provider:
    """Return the provider of a type; types without a provider are only recorded."""
    return _CUSTOM if is_custom(resource_type) else PROVIDERS.get(resource_type, _RECORDED)


def unsupported_types(template: Mapping[str, Any]) -> list[str]:
    """Return the resource types of a template that the local AWS does not simulate, sorted."""
    types = {resource["Type"] for resource in template["Resources"].values()}
    return sorted(one for one in types if not is_custom(one) and one not in PROVIDERS)


def unknown_types(template: Mapping[str, Any]) -> list[str]:
    """Return the resource types of a template that CloudFormation does not have, or that cannot be recorded alone, sorted."""
    return [one for one in unsupported_types(template) if one in _NOT_RECORDED or not schemas.is_known(one)]


def refused_types(template: Mapping[str, Any]) -> list[str]:
    """Return the resource types of a template that are refused by name, sorted."""
    return [one for one in unsupported_types(template) if one in _NOT_SIMULATED]
