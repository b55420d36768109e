"""Form of templates: sections, names and arguments of functions, refused with CloudFormation's messages.

The words are those that AWS answered to localstack/localstack, tests/aws/services/cloudformation (2022 to 2025).
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ultracluster_local.cloudformation.errors import ValidationError
from ultracluster_local.cloudformation.templates.parsing import is_intrinsic

__all__ = ["LISTS", "check_form"]

_KEYS = frozenset(
    {
        "Condition",
        "CreationPolicy",
        "DeletionPolicy",
        "DependsOn",
        "Metadata",
        "Properties",
        "Type",
        "UpdatePolicy",
        "UpdateReplacePolicy",
        "Version",  # allowed for custom resources
    }
)


def check_form(template: Mapping[str, Any]) -> None:
    """Refuse a template whose sections or functions have a wrong form.

    Raises:
        ValidationError: If it has.
    """
    for problem in (
        *_section_problems(template),
        *_null_problems(template, ""),
        *_mapping_problems(template.get("Mappings") or {}),
        *_function_problems(template, {*(template.get("Conditions") or {})}),
    ):
        raise ValidationError(problem)


def _section_problems(template: Mapping[str, Any]) -> Iterator[str]:
    for section, kind in (("Resources", "Resource"), ("Parameters", "Parameter")):
        for name in template.get(section) or {}:
            if not re.fullmatch(r"[A-Za-z0-9]+", str(name)):
                yield f"Template format error: {kind} name {name} is non alphanumeric."
    for name, resource in template["Resources"].items():
        if not isinstance(resource, dict):
            yield "Template format error: Any Resources member must be an object."
        elif not isinstance(resource.get("Type"), str):
            yield f"Template format error: [/Resources/{name}] Every Resources object must contain a Type member."
        else:
            for key in sorted(resource.keys() - _KEYS):
                yield f"Invalid template resource property '{key}'"
    for output in (template.get("Outputs") or {}).values():
        if not isinstance(output, dict) or "Value" not in output:
            yield "Template format error: Every Outputs member must contain a Value object"


def _null_problems(value: Any, path: str) -> Iterator[str]:
    if value is None and path.count("/") > 1:
        yield f"[{path}] 'null' values are not allowed in templates"
    elif isinstance(value, dict):
        for key, part in value.items():
            yield from _null_problems(part, f"{path}/{key}")
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from _null_problems(part, f"{path}/{index}")


def _mapping_problems(mappings: Mapping[str, Any]) -> Iterator[str]:
    for mapping in mappings.values():
        for name, member in mapping.items() if isinstance(mapping, dict) else ():
            if not isinstance(member, dict):
                yield f"Template format error: Every Mappings member {name} must be a map"
            elif any(isinstance(value, dict) for value in member.values()):
                yield "Template format error: Every Mappings attribute must be a String or a List."


def _function_problems(value: Any, conditions: set[str]) -> Iterator[str]:
    if isinstance(value, list):
        for part in value:
            yield from _function_problems(part, conditions)
    elif isinstance(value, dict):
        for name, argument in value.items():
            problem = _argument_problem(name, argument, conditions) if is_intrinsic(value) else None
            if problem:
                yield f"Template error: {problem}"
            yield from _function_problems(argument, conditions)


LISTS = {
    "Fn::Equals": "every Fn::Equals object requires a list of 2 string parameters.",
    "Fn::FindInMap": (
        "every Fn::FindInMap object requires three parameters, the map name, map key and the attribute for return value"
    ),
    "Fn::If": "Fn::If requires a list argument with three elements",
    "Fn::Join": (
        "every Fn::Join object requires two parameters, (1) a string delimiter and (2) a list of strings to be joined or"
        " a function that returns a list of strings (such as Fn::GetAZs) to be joined."
    ),
    "Fn::Not": "every Fn::Not object requires a list of 1 boolean parameter.",
    "Fn::Select": "Fn::Select requires a list argument with two elements: an integer index and a list",
    "Fn::Split": (
        "every Fn::Split object requires two parameters, (1) a string delimiter and (2) a string to be split or a"
        " function that returns a string to be split."
    ),
}
"""What CloudFormation answers if the argument of a function is not a list of the right length."""
_LENGTHS = {"Fn::FindInMap": {3, 4}, "Fn::If": {3}, "Fn::Not": {1}}  # others: two
_SUB = (
    "One or more Fn::Sub intrinsic functions don't specify expected arguments. Specify a string as first argument, and an optional"
    " second argument to specify a mapping of values to replace in the string"
)


def _argument_problem(name: str, argument: Any, conditions: set[str]) -> str | None:
    parts = argument if isinstance(argument, list) else []
    wrong = len(parts) not in _LENGTHS.get(name, {2})
    if name in LISTS and (wrong or (name == "Fn::Select" and not _is_index(parts[0]))):
        return LISTS[name]
    if name == "Fn::Sub" and not isinstance(argument, str) and list(map(type, parts)) != [str, dict]:
        return _SUB
    if name == "Fn::If" and parts and isinstance(parts[0], str) and parts[0] not in conditions:
        return f"unresolved condition dependency {parts[0]} in Fn::If"
    if name == "Fn::GetAtt" and not _is_attribute(argument):
        names = "the resource name and the resource attribute"
        return f"every Fn::GetAtt object requires two non-empty parameters, {names}"
    return None


def _is_attribute(argument: Any) -> bool:
    parts = argument.split(".", 1) if isinstance(argument, str) else argument
    return isinstance(parts, list) and len(parts) > 1 and all(parts)


def _is_index(value: Any) -> bool:
    return is_intrinsic(value) or str(value).isdigit()
