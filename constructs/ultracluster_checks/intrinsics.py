"""Resolve intrinsic functions as far as the given templates allow."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

from ultracluster_checks.model.values import ABSENT, DYNAMIC, Unknown, joined

# Names exclude braces: otherwise a text of repeated "${" takes quadratic time.
_PLACEHOLDER: Final = re.compile(r"\$\{(!?)([^{}]*)\}")


class Scope(Protocol):
    """Resolver of the names in a template."""

    def name(self, name: str) -> Any:
        """Resolve ``Ref``."""

    def attribute(self, logical_id: str, attribute: str) -> Any:
        """Resolve ``Fn::GetAtt``."""

    def mapped(self, keys: list[Any]) -> Any:
        """Resolve ``Fn::FindInMap``."""

    def imported(self, name: Any) -> Any:
        """Resolve ``Fn::ImportValue``."""

    def condition(self, name: str) -> bool | None:
        """Evaluate a condition by its name; None if only a deployment can."""


def resolve(value: Any, scope: Scope) -> Any:
    """Resolve a value to plain values, `Reference`, `Text`, `Unknown`, or ``ABSENT`` for ``AWS::NoValue``."""
    if isinstance(value, list):
        parts = [resolve(part, scope) for part in value]
        return [part for part in parts if part is not ABSENT]
    if not isinstance(value, dict):
        return joined([value]) if isinstance(value, str) and DYNAMIC in value else value
    if len(value) == 1:
        ((name, argument),) = value.items()
        if name == "Ref":
            return scope.name(argument) if isinstance(argument, str) else Unknown()
        if isinstance(name, str) and name.startswith("Fn::"):
            function = _FUNCTIONS.get(name)
            return function(argument, scope) if function else Unknown()
    members = {key: resolve(part, scope) for key, part in value.items()}
    return {key: part for key, part in members.items() if part is not ABSENT}


def _pair(value: Any) -> tuple[Any, Any] | None:
    match value:
        case [first, second]:
            return first, second
    return None


def _get_att(argument: Any, scope: Scope) -> Any:
    parts = _pair(argument.split(".", 1) if isinstance(argument, str) else argument)
    if parts and isinstance(parts[0], str) and isinstance(parts[1], str):
        return scope.attribute(*parts)
    return Unknown()


def _sub(argument: Any, scope: Scope) -> Any:
    text, names = _pair(argument) or (argument, {})
    if not isinstance(text, str) or not isinstance(names, dict):
        return Unknown()
    parts: list[Any] = []
    end = 0
    for found in _PLACEHOLDER.finditer(text):
        parts.append(text[end : found.start()])
        end = found.end()
        literal, name = found.groups()
        if literal:
            parts.append(f"${{{name}}}")
        elif name in names:
            parts.append(resolve(names[name], scope))
        elif "." in name:
            parts.append(scope.attribute(*name.split(".", 1)))
        else:
            parts.append(scope.name(name))
    return joined([*parts, text[end:]])


def _join(argument: Any, scope: Scope) -> Any:
    separator, items = _pair(argument) or (None, None)
    items = resolve(items, scope)
    if not isinstance(separator, str) or not isinstance(items, list):
        return Unknown()
    parts: list[Any] = []
    for index, item in enumerate(items):
        parts += [separator] * (index > 0) + [item]
    return joined(parts)


def _select(argument: Any, scope: Scope) -> Any:
    index, items = _pair(resolve(argument, scope)) or (None, None)
    if isinstance(index, str) and re.fullmatch("[0-9]{1,4}", index):
        index = int(index)
    if isinstance(index, int) and isinstance(items, list) and 0 <= index < len(items):
        return items[index]
    return Unknown()


def _split(argument: Any, scope: Scope) -> Any:
    separator, text = _pair(resolve(argument, scope)) or (None, None)
    if isinstance(separator, str) and separator and isinstance(text, str):
        return text.split(separator)
    return Unknown()


def _if(argument: Any, scope: Scope) -> Any:
    match argument:
        case [str(name), *branches] if len(branches) == 2:  # noqa: PLR2004 - then and else
            then, other = (resolve(branch, scope) for branch in branches)
        case _:
            return Unknown()
    holds = scope.condition(name)
    chosen = then if holds else other
    if then == other or (holds is not None and chosen is not ABSENT):
        return chosen
    # A parameter that switches something on is there to be set: its default is no ground for "missing".
    return Unknown(optional=ABSENT in (then, other))


def evaluate(condition: Any, scope: Scope) -> bool | None:
    """Evaluate the body of a condition; None if only a deployment can."""
    match condition:
        case {"Condition": str(name)}:
            return scope.condition(name)
        case {"Fn::Equals": [first, second]}:
            first, second = resolve(first, scope), resolve(second, scope)
            known = all(isinstance(each, str | int | float) for each in (first, second))
            return joined([first]) == joined([second]) if known else None
        case {"Fn::Not": [part]}:
            holds = evaluate(part, scope)
            return None if holds is None else not holds
        case {"Fn::And": list(parts)}:
            return _all([evaluate(part, scope) for part in parts], decisive=False)
        case {"Fn::Or": list(parts)}:
            return _all([evaluate(part, scope) for part in parts], decisive=True)
    return None


def _all(results: list[bool | None], *, decisive: bool) -> bool | None:
    return decisive if decisive in results else None if None in results else not decisive


def _find_in_map(argument: Any, scope: Scope) -> Any:
    keys = resolve(argument, scope)
    return scope.mapped(keys) if isinstance(keys, list) else Unknown()


_FUNCTIONS: Final[Mapping[str, Callable[[Any, Scope], Any]]] = {
    "Fn::Base64": resolve,  # check the text, not its encoding
    "Fn::FindInMap": _find_in_map,
    "Fn::GetAtt": _get_att,
    "Fn::If": _if,
    "Fn::ImportValue": lambda argument, scope: scope.imported(resolve(argument, scope)),
    "Fn::Join": _join,
    "Fn::Select": _select,
    "Fn::Split": _split,
    "Fn::Sub": _sub,
}
