"""Validation of a template for a stack, and the scope of its references."""

from collections.abc import Callable, Mapping
from typing import Any

from ultracluster_local.cloudformation.custom_resources import is_custom
from ultracluster_local.cloudformation.errors import ValidationError
from ultracluster_local.cloudformation.registry import schemas
from ultracluster_local.cloudformation.resource_types import PROVIDERS, refused_types, unknown_types
from ultracluster_local.cloudformation.stacks import Stack, stacks_of
from ultracluster_local.cloudformation.templates.checks import check_sections
from ultracluster_local.cloudformation.templates.grammar import check_form
from ultracluster_local.cloudformation.templates.intrinsic_functions import Scope
from ultracluster_local.cloudformation.templates.parameters import (
    secret_value,
    ssm_parameter,
    typed_parameters,
)
from ultracluster_local.cloudformation.templates.parsing import creation_order, references
from ultracluster_local.instance.clients import Clients
from ultracluster_local.instance.environment import ACCOUNT

__all__ = ["refuse_invalid", "stack_scope", "validate_template"]


def validate_template(template: Mapping[str, Any]) -> None:
    """Refuse a template that cannot be deployed, before anything is changed.

    Raises:
        ValidationError: If a section has a wrong form, a type has no provider, a property is not in the schema, or a reference is unresolved.
    """
    check_form(template)
    check_sections(template)
    unknown = unknown_types(template)
    if unknown:
        raise ValidationError(f"Template format error: Unrecognized resource types: [{', '.join(unknown)}]")
    if refused := refused_types(template):
        raise ValidationError(
            f"The local AWS does not simulate {', '.join(refused)}; see `ultracluster docs local-aws`."
        )
    creation_order(template)
    for name, resource in template["Resources"].items():
        refuse_invalid(name, resource["Type"], resource.get("Properties") or {})
    known = set(template["Resources"]) | set(template.get("Parameters") or {})
    for output in (template.get("Outputs") or {}).values():
        missing = sorted(
            {one for one in references(output) if one not in known and not one.startswith("AWS::")}
        )
        if missing:
            raise ValidationError(
                f"Unresolved resource dependencies [{', '.join(missing)}] in the Outputs block of the template"
            )


def refuse_invalid(logical_id: str, resource_type: str, properties: Mapping[str, Any]) -> None:
    """Refuse properties that the schema of their type does not allow.

    Args:
        logical_id: Logical ID of the resource.
        resource_type: Resource type.
        properties: Properties, resolved or not.

    Raises:
        ValidationError: If there are some.
    """
    if is_custom(resource_type):
        return
    found = schemas.problems(resource_type, properties, patterns=resource_type not in PROVIDERS)
    if found:
        raise ValidationError(
            f"Properties validation failed for resource {logical_id} with message:\n[{', '.join(found)}]"
        )


def stack_scope(
    stack: Stack,
    template: Mapping[str, Any],
    parameters: Mapping[str, str],
    *,
    clients: Clients,
    imports: set[str],
    ref: Callable[[str], Any],
    attribute: Callable[[str, str], Any],
) -> Scope:
    """Build the scope of a template of `stack`; names of imported exports are added to `imports`."""

    def imported(name: str) -> str:
        exports = stacks_of(stack.region).exports()
        if name not in exports:
            raise ValidationError(f"No export named {name} found.")
        imports.add(name)
        return exports[name][1]

    def output(name: str, key: str, region: str) -> str:
        outputs = stacks_of(region or stack.region).get(name).outputs
        for each in outputs:
            if each["OutputKey"] == key:
                return each["OutputValue"]
        raise ValidationError(f"Stack {name} has no output {key}")

    def dynamic(service: str, key: str) -> str:
        if service == "secretsmanager":
            return secret_value(key, clients=clients, region=stack.region)
        return ssm_parameter(key, clients=clients, region=stack.region)

    return Scope(
        region=stack.region,
        pseudo={
            "AWS::AccountId": ACCOUNT,
            "AWS::Region": stack.region,
            "AWS::StackId": stack.stack_id,
            "AWS::StackName": stack.name,
            "AWS::Partition": "aws",
            "AWS::URLSuffix": "amazonaws.com",
            "AWS::NotificationARNs": stack.notification_arns,
        },
        parameters=typed_parameters(template, parameters, clients=clients, region=stack.region),
        mappings=template.get("Mappings") or {},
        conditions=template.get("Conditions") or {},
        ref=ref,
        attribute=attribute,
        imported=imported,
        output=output,
        dynamic=dynamic,
    )
