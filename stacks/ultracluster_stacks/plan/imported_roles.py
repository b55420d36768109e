"""Roles that jobs, nodes and functions get and that no template creates, so that no template shows what they may do."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from ultracluster_stacks.plan.literals import resolved
from ultracluster_stacks.plan.templates import StackTemplate

_ARN: Final = re.compile(r":role/((?:[\w+=,.@-]+/)*[\w+=,.@-]+)\"")
_NAME: Final = re.compile(r"[\w+=,.@-]+")


def imported_roles(stack: StackTemplate) -> Mapping[str, str]:
    """Return what has each imported role, by the role's name with its path."""
    return {
        role: stack.paths.get(name, name)
        for name, resource in resolved(stack).resources.items()
        for role in _roles(str(resource.get("Type")), resource.get("Properties") or {})
    }


def _roles(resource_type: str, properties: Mapping[str, Any]) -> Iterator[str]:
    match resource_type:
        case "AWS::Batch::JobDefinition":
            nodes = (properties.get("NodeProperties") or {}).get("NodeRangeProperties") or []
            for one in (properties, *nodes):
                container = one.get("ContainerProperties") or one.get("Container") or {}
                yield from _named(container.get("JobRoleArn"))
                yield from _named(container.get("ExecutionRoleArn"))
        case "AWS::Lambda::Function":
            yield from _named(properties.get("Role"))
        case "AWS::IAM::InstanceProfile":
            roles = properties.get("Roles") or []
            yield from (role for role in roles if isinstance(role, str) and _NAME.fullmatch(role))


def _named(arn: Any) -> Iterator[str]:
    # A reference to a resource or an import holds no name; parts of the ARN may be pseudo parameters.
    if found := _ARN.search(json.dumps(arn)):
        yield found[1]
