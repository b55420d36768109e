"""Resolve what a template decides by itself: mappings, and conditions over literals and the Region."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from ultracluster_checks.intrinsics import evaluate, resolve
from ultracluster_checks.model.values import Unknown
from ultracluster_stacks.plan.templates import StackTemplate


def resolved(stack: StackTemplate) -> StackTemplate:
    """Return a stack without the resources, branches and mappings that its template decides.

    Parameters stay unresolved: a deployment may set another value than the default.
    """
    if not {"Conditions", "Mappings"} & stack.template.keys():
        return stack
    scope = _Scope(stack)
    sections = {
        section: _existing_members(stack.template.get(section) or {}, scope)
        for section in ("Resources", "Outputs")
    }
    return replace(stack, template={**stack.template, **sections})


def _existing_members(section: Mapping[str, Any], scope: "_Scope") -> dict[str, Any]:
    existing = {}
    for name, member in section.items():
        exists = scope.condition(str(member.get("Condition")))
        if exists is not False:
            literal = _resolved_literal(member, scope)
            existing[name] = {key: part for key, part in literal.items() if key != "Condition" or not exists}
    return existing


def _resolved_literal(value: Any, scope: "_Scope") -> Any:
    if isinstance(value, list):
        return [part for item in value if (part := _resolved_literal(item, scope)) != _NO_VALUE]
    if not isinstance(value, dict):
        return value
    match value:
        case {"Fn::FindInMap": list(keys)} if len(value) == 1:
            mapped = scope.mapped(resolve(keys, scope))
            return value if isinstance(mapped, Unknown) else mapped
        case {"Fn::If": [str(name), then, other]} if len(value) == 1:
            holds = scope.condition(name)
            if holds is not None:
                return _resolved_literal(then if holds else other, scope)
    return {
        name: part for name, item in value.items() if (part := _resolved_literal(item, scope)) != _NO_VALUE
    }


_NO_VALUE: Final = {"Ref": "AWS::NoValue"}


class _Scope:
    """Names of one template, as far as they are certain before a deployment."""

    def __init__(self, stack: StackTemplate) -> None:
        self._region = stack.region
        self._mappings = stack.template.get("Mappings") or {}
        self._conditions = stack.template.get("Conditions") or {}
        self._holds: dict[str, bool | None] = {}

    def name(self, name: str) -> Any:
        return self._region if name == "AWS::Region" else Unknown()

    def attribute(self, logical_id: str, attribute: str) -> Any:
        del logical_id, attribute
        return Unknown()

    def mapped(self, keys: list[Any]) -> Any:
        value = self._mappings
        for key in keys:
            value = value.get(key) if isinstance(value, dict) and isinstance(key, str) else None
        return Unknown() if value is None or isinstance(value, dict) else value

    def imported(self, name: Any) -> Any:
        del name
        return Unknown()

    def condition(self, name: str) -> bool | None:
        if name not in self._holds:
            self._holds[name] = None  # of a circle
            self._holds[name] = evaluate(self._conditions.get(name), self)
        return self._holds[name]
