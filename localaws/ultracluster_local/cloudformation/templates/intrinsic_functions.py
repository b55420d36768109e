"""Intrinsic functions and conditions of templates."""

import base64
import ipaddress
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ultracluster_local.cloudformation.errors import ValidationError
from ultracluster_local.cloudformation.templates.grammar import LISTS
from ultracluster_local.cloudformation.templates.parsing import SUBSTITUTION, is_intrinsic

__all__ = ["DYNAMIC_REFERENCE", "FUNCTIONS", "NO_VALUE", "UNKNOWN", "Scope", "resolve"]

NO_VALUE = object()
"""Value of `AWS::NoValue`: the property or list entry that holds it is removed."""

UNKNOWN = "{{changeSet:KNOWN_AFTER_APPLY}}"
"""Placeholder in change sets for a value known only after the deployment."""

DYNAMIC_REFERENCE = re.compile(r"\{\{resolve:([a-z-]+):([^}]+)\}\}")


@dataclass(kw_only=True, slots=True)
class Scope:
    """Sources of the values that a template refers to.

    Attributes:
        region: Region of the stack.
        pseudo: Pseudo parameters such as ``AWS::Region``.
        parameters: Typed parameter values.
        mappings: Mappings of the template.
        conditions: Unevaluated conditions of the template.
        ref: Returns the physical ID of a resource.
        attribute: Returns an attribute of a resource.
        imported: Returns the value of an export of another stack.
        output: Returns an output of a stack of the account by the names of both and the Region, or "" for this one.
        dynamic: Returns the value of a dynamic reference by service and key.
    """

    region: str
    pseudo: Mapping[str, Any]
    parameters: Mapping[str, Any]
    mappings: Mapping[str, Any]
    conditions: Mapping[str, Any]
    ref: Callable[[str], Any]
    attribute: Callable[[str, str], Any]
    imported: Callable[[str], Any]
    output: Callable[[str, str, str], Any]
    dynamic: Callable[[str, str], str]
    _conditions_met: dict[str, bool] = field(default_factory=dict)

    def condition(self, name: str) -> bool:
        """Evaluate a condition.

        Raises:
            ValidationError: If the template has no such condition.
        """
        if name not in self._conditions_met:
            if name not in self.conditions:
                raise ValidationError(f"Template format error: Unresolved condition dependency {name}")
            self._conditions_met[name] = bool(resolve(self.conditions[name], self))
        return self._conditions_met[name]

    def named(self, name: str) -> Any:
        """Return the value of ``Ref`` for `name`."""
        if name == "AWS::NoValue":
            return NO_VALUE
        for source in (self.pseudo, self.parameters):
            if name in source:
                return source[name]
        return self.ref(name)


def resolve(value: Any, scope: Scope) -> Any:
    """Resolve all intrinsic functions in `value`.

    Raises:
        ValidationError: If a function is unknown or has invalid arguments.
    """
    if isinstance(value, dict):
        if is_intrinsic(value):
            name, argument = next(iter(value.items()))
            return _dynamic(FUNCTIONS[name](argument, scope), scope) if name in FUNCTIONS else _unknown(name)
        pairs = ((key, resolve(part, scope)) for key, part in value.items())
        return {key: part for key, part in pairs if part is not NO_VALUE}
    if isinstance(value, list):
        parts = (resolve(part, scope) for part in value)
        return [part for part in parts if part is not NO_VALUE]
    return _dynamic(value, scope)


def _dynamic(value: Any, scope: Scope) -> Any:
    if isinstance(value, str) and "{{resolve:" in value and UNKNOWN not in value:
        return DYNAMIC_REFERENCE.sub(lambda match: scope.dynamic(match[1], match[2]), value)
    return value


def _unknown(name: str) -> Any:
    raise ValidationError(f"Template error: the local AWS does not support the function {name}")


def _attribute(argument: Any, scope: Scope) -> Any:
    name, attribute = argument if isinstance(argument, list) else argument.split(".", 1)
    return scope.attribute(name, str(resolve(attribute, scope)))


def _substitute(argument: Any, scope: Scope) -> str:
    text, local = (argument, {}) if isinstance(argument, str) else argument
    values = resolve(local, scope)

    def replace(match: re.Match[str]) -> str:
        name = match[1].strip()
        if name in values:
            return _text(values[name])
        if "." in name and not name.startswith("AWS::"):
            return _text(scope.attribute(*name.split(".", 1)))
        return _text(scope.named(name))

    return SUBSTITUTION.sub(replace, text).replace("${!", "${")


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _join(argument: Any, scope: Scope) -> Any:
    delimiter, parts = argument
    resolved = resolve(parts, scope)
    if not isinstance(resolved, list):
        raise ValidationError(f"Template error: {LISTS['Fn::Join']}")
    return UNKNOWN if UNKNOWN in resolved else str(delimiter).join(_text(part) for part in resolved)


def _select(argument: Any, scope: Scope) -> Any:
    index, items = resolve(argument, scope)
    if not isinstance(items, list) and items != UNKNOWN:
        raise ValidationError(f"Template error: {LISTS['Fn::Select']}")
    if items == UNKNOWN or UNKNOWN in items:
        return UNKNOWN
    if not 0 <= int(index) < len(items):
        raise ValidationError(f"Template error: Fn::Select cannot select nonexistent value at index {index}")
    return items[int(index)]


def _split(argument: Any, scope: Scope) -> Any:
    delimiter, text = resolve(argument, scope)
    return text if text == UNKNOWN else text.split(delimiter)


def _find_in_map(argument: Any, scope: Scope) -> Any:
    name, first, second = (resolve(part, scope) for part in argument[:3])
    try:
        return scope.mappings[name][first][second]
    except (KeyError, TypeError):
        if len(argument) > 3 and "DefaultValue" in argument[3]:  # noqa: PLR2004 - the optional fourth part
            return resolve(argument[3]["DefaultValue"], scope)
        raise ValidationError(
            f"Template error: Unable to get mapping for {name}::{first}::{second}"
        ) from None


def _if(argument: Any, scope: Scope) -> Any:
    name, then, otherwise = argument
    return resolve(then if scope.condition(name) else otherwise, scope)


def _equals(argument: Any, scope: Scope) -> bool:
    one, other = resolve(argument, scope)
    return _text(one) == _text(other)


def _zones(argument: Any, scope: Scope) -> list[str]:
    region = resolve(argument, scope) or scope.region
    return [f"{region}{letter}" for letter in "abc"]


def _base64(argument: Any, scope: Scope) -> str:
    text = resolve(argument, scope)
    return UNKNOWN if UNKNOWN in text else base64.b64encode(str(text).encode()).decode()


def _cidr(argument: Any, scope: Scope) -> Any:
    block, count, *bits = resolve(argument, scope)
    if block == UNKNOWN:
        return [UNKNOWN] * int(count)
    host_bits = int(bits[0]) if bits else 8
    network = ipaddress.ip_network(block)
    subnets = network.subnets(new_prefix=network.max_prefixlen - host_bits)
    return [str(subnet) for subnet, _ in zip(subnets, range(int(count)), strict=False)]


def _stack_output(argument: Any, scope: Scope) -> Any:
    # https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/intrinsic-function-reference-getstackoutput.html
    given = resolve(argument, scope)
    return scope.output(given["StackName"], given["OutputName"], given.get("Region", ""))


FUNCTIONS: dict[str, Callable[[Any, Scope], Any]] = {
    "Ref": lambda argument, scope: scope.named(argument),
    "Condition": lambda argument, scope: scope.condition(argument),
    "Fn::GetAtt": _attribute,
    "Fn::Sub": _substitute,
    "Fn::Join": _join,
    "Fn::Select": _select,
    "Fn::Split": _split,
    "Fn::FindInMap": _find_in_map,
    "Fn::If": _if,
    "Fn::Equals": _equals,
    "Fn::Not": lambda argument, scope: not resolve(argument[0], scope),
    "Fn::And": lambda argument, scope: all(resolve(part, scope) for part in argument),
    "Fn::Or": lambda argument, scope: any(resolve(part, scope) for part in argument),
    "Fn::ImportValue": lambda argument, scope: scope.imported(str(resolve(argument, scope))),
    "Fn::GetStackOutput": _stack_output,
    "Fn::GetAZs": _zones,
    "Fn::Base64": _base64,
    "Fn::Cidr": _cidr,
    "Fn::ToJsonString": lambda argument, scope: json.dumps(resolve(argument, scope)),
    "Fn::Length": lambda argument, scope: len(resolve(argument, scope)),
}
