"""Sections, limits and functions of a template: what CloudFormation refuses before it looks at any resource.

The messages are CloudFormation's, as the snapshots of localstack/localstack (tests/aws/services/cloudformation) and issues of
aws/aws-cdk and aws-cloudformation/cfn-lint show them; the limits are those of
https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ultracluster_local.cloudformation.errors import ValidationError
from ultracluster_local.cloudformation.registry import schemas
from ultracluster_local.cloudformation.templates.intrinsic_functions import FUNCTIONS

__all__ = ["check_sections"]

_SECTIONS = frozenset(
    {
        "AWSTemplateFormatVersion",
        "Conditions",
        "Description",
        "Hooks",
        "Mappings",
        "Metadata",
        "Outputs",
        "Parameters",
        "Resources",
        "Rules",
        "Transform",
    }
)
_VERSION = "2010-09-09"
_LIMITS = {
    "Resources": ("resources", 500),
    "Parameters": ("parameters", 200),
    "Outputs": ("outputs", 200),
    "Mappings": ("mappings", 200),
}
_MOST_IN_DESCRIPTION = 1024
_POLICIES = {
    "DeletionPolicy": frozenset({"Delete", "Retain", "RetainExceptOnCreate", "Snapshot"}),
    "UpdateReplacePolicy": frozenset({"Delete", "Retain", "Snapshot"}),
}
_PARAMETER_TYPE = re.compile(
    r"String|Number|List<(Number|String)>|CommaDelimitedList|(List<)?AWS::(EC2|Route53)::[A-Za-z0-9:]+>?|AWS::SSM::Parameter::(Name|Value<[A-Za-z0-9:<>]+>)"
)


def check_sections(template: Mapping[str, Any]) -> None:
    """Refuse a template with invalid sections; their members and functions have the form of `template_grammar`.

    Raises:
        ValidationError: If there are some.
    """
    _check_sections(template)
    for name, parameter in (template.get("Parameters") or {}).items():
        _check_parameter(name, parameter)
    for name, resource in template["Resources"].items():
        _check_resource(name, resource, template)
    for name, output in (template.get("Outputs") or {}).items():
        _check_output(name, output, template)
    _check_functions(template)
    _check_secure_references(template)


def _check_sections(template: Mapping[str, Any]) -> None:
    unknown = sorted(set(template) - _SECTIONS)
    if unknown:
        raise ValidationError(f"Invalid template property or properties [{', '.join(map(str, unknown))}]")
    version = template.get("AWSTemplateFormatVersion", _VERSION)
    if str(version) != _VERSION:
        raise _format_error(f"{version} is not a supported value for AWSTemplateFormatVersion.")
    description = template.get("Description", "")
    if not isinstance(description, str):
        raise _format_error("every Description member must be a string.")
    if len(description.encode()) > _MOST_IN_DESCRIPTION:
        raise _format_error(f"'Description' length is greater than {_MOST_IN_DESCRIPTION}.")
    for section, (noun, most) in _LIMITS.items():
        members = template.get(section) or {}
        if not isinstance(members, Mapping):
            raise _format_error(f"{section} must be an object.")
        if len(members) > most:
            raise _format_error(f"Number of {noun}, {len(members)}, is greater than maximum allowed, {most}")


def _format_error(message: str) -> ValidationError:
    return ValidationError(f"Template format error: {message}")


def _check_parameter(name: str, parameter: Any) -> None:
    if not isinstance(parameter, Mapping) or "Type" not in parameter:
        raise _format_error(f"[/Parameters/{name}] Every Parameters object must contain a Type member.")
    if not _PARAMETER_TYPE.fullmatch(str(parameter["Type"])):
        raise _format_error(f"Unrecognized parameter type: {parameter['Type']}")
    if isinstance(parameter.get("Default"), (list, dict)):
        raise _format_error("Every Default member must be a string.")


def _check_resource(name: str, resource: Any, template: Mapping[str, Any]) -> None:
    if not isinstance(resource.get("Properties", {}), Mapping):
        raise _format_error(f"[/Resources/{name}/Properties] Properties must be an object.")
    for policy, allowed in _POLICIES.items():
        given = resource.get(policy, "Delete")
        if isinstance(given, str) and given not in allowed:
            raise _format_error(f"Unrecognized {policy} {given} for resource {name}")
        # A function is for AWS::LanguageExtensions: aws-cloudformation/cloudformation-coverage-roadmap#269.
        if not isinstance(given, str) and not (isinstance(given, Mapping) and "Transform" in template):
            raise _format_error(f"Every {policy} member must be a string.")
    _check_condition(resource.get("Condition"), template, "Resources")


def _check_output(name: str, output: Any, template: Mapping[str, Any]) -> None:
    if isinstance(output["Value"], list):
        raise _format_error("The Value field of every Outputs member must evaluate to a String.")
    if "Export" in output and "Name" not in (output["Export"] or {}):
        raise _format_error(
            f"Output {name} is malformed. The Name field of every Export member must be specified."
        )
    _check_condition(output.get("Condition"), template, "Outputs")


def _check_condition(name: Any, template: Mapping[str, Any], block: str) -> None:
    if name is not None and name not in (template.get("Conditions") or {}):
        raise _format_error(f"Unresolved condition dependency {name} in the {block} block of the template")


_SECURE = frozenset(
    {
        "AWS::DirectoryService::MicrosoftAD/Properties/Password",
        "AWS::DirectoryService::SimpleAD/Properties/Password",
        "AWS::ElastiCache::ReplicationGroup/Properties/AuthToken",
        "AWS::IAM::User/Properties/LoginProfile/Password",
        "AWS::KinesisFirehose::DeliveryStream/Properties/RedshiftDestinationConfiguration/Password",
        "AWS::OpsWorks::App/Properties/AppSource/Password",
        "AWS::OpsWorks::Stack/Properties/CustomCookbooksSource/Password",
        "AWS::OpsWorks::Stack/Properties/RdsDbInstances/DbPassword",
        "AWS::RDS::DBCluster/Properties/MasterUserPassword",
        "AWS::RDS::DBInstance/Properties/MasterUserPassword",
        "AWS::Redshift::Cluster/Properties/MasterUserPassword",
    }
)
"""Properties with secure parameters: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/dynamic-references-ssm-secure-strings.html."""


def _check_secure_references(template: Mapping[str, Any]) -> None:
    places = [
        place
        for resource in template["Resources"].values()
        for place in _secure_places(resource.get("Properties"), f"{resource['Type']}/Properties")
        if place not in _SECURE
    ]
    if places:
        raise ValidationError(f"SSM Secure reference is not supported in: [{','.join(places)}]")


def _secure_places(value: Any, place: str) -> Iterator[str]:
    if isinstance(value, str) and "{{resolve:ssm-secure:" in value:
        yield place
    elif isinstance(value, Mapping):
        for key, part in value.items():
            yield from _secure_places(part, place if str(key).startswith("Fn::") else f"{place}/{key}")
    elif isinstance(value, list):
        for part in value:
            yield from _secure_places(part, place)


# Functions


def _check_functions(template: Mapping[str, Any]) -> None:
    for block in ("Conditions", "Resources", "Outputs"):
        for name, argument in _functions(template.get(block) or {}):
            if name not in FUNCTIONS:
                raise ValidationError(
                    f"Template error: Encountered unsupported function: {name} Supported functions are: "
                    f"[{', '.join(sorted(FUNCTIONS))}]"
                )
            _check_arguments(name, argument, template)


def _functions(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, part in value.items():
            if isinstance(key, str) and key.startswith("Fn::") and len(value) == 1 and key != "Fn::Transform":
                yield key, part
            yield from _functions(part)
    elif isinstance(value, list):
        for part in value:
            yield from _functions(part)


def _check_arguments(name: str, argument: Any, template: Mapping[str, Any]) -> None:
    if name == "Fn::GetAtt":
        _check_attribute(argument, template)
    if name == "Fn::FindInMap" and all(isinstance(one, str) for one in argument):
        mapping, first, second = argument
        mappings = template.get("Mappings") or {}
        if mapping not in mappings:
            raise ValidationError(
                f"Template error: Mapping named '{mapping}' is not present in the 'Mappings' section of template."
            )
        if second not in (mappings[mapping].get(first) or {}):
            raise ValidationError(f"Template error: Unable to get mapping for {mapping}::{first}::{second}")


def _check_attribute(argument: Any, template: Mapping[str, Any]) -> None:
    named = argument.split(".", 1) if isinstance(argument, str) else argument
    if named[0] not in template["Resources"]:
        raise ValidationError(
            f"Template error: instance of Fn::GetAtt references undefined resource {named[0]}"
        )
    kind = template["Resources"][named[0]]["Type"]
    if kind.startswith("AWS::") and isinstance(named[1], str) and not schemas.has_attribute(kind, named[1]):
        raise ValidationError(
            f"Template error: resource {named[0]} does not support attribute type {named[1]} in Fn::GetAtt"
        )
