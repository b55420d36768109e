"""The changes of a change set by resource and property, as `cdk diff` shows them."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ultracluster_local.cloudformation.resource_types import provider_of
from ultracluster_local.cloudformation.stacks import Stack, StackResource
from ultracluster_local.cloudformation.templates.intrinsic_functions import UNKNOWN, resolve
from ultracluster_local.cloudformation.templates.parsing import creation_order, is_intrinsic, references
from ultracluster_local.cloudformation.templates.validation import stack_scope
from ultracluster_local.instance.clients import Clients

__all__ = ["PropertyChange", "describe_changes", "property_changes"]


@dataclass(frozen=True, kw_only=True, slots=True)
class PropertyChange:
    """A change of one property.

    Attributes:
        path: Path, such as ``("LaunchTemplateData", "ImageId")``.
        before: Current value; None if the property is new.
        after: New value; None if the property is removed.
    """

    path: tuple[str, ...]
    before: Any
    after: Any


def property_changes(before: Any, after: Any, path: tuple[str, ...] = ()) -> Iterator[PropertyChange]:
    """Compare two values recursively; lists of different length are one change."""
    if before == after:
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted({*before, *after}):
            yield from property_changes(before.get(key), after.get(key), (*path, key))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from property_changes(one, other, (*path, str(index)))
    else:
        yield PropertyChange(path=path, before=before, after=after)


def describe_changes(
    stack: Stack, template: Mapping[str, Any], parameters: Mapping[str, str], *, clients: Clients
) -> list[dict[str, Any]]:
    """Return the changes from the deployed stack to `template`, in the form of DescribeChangeSet.

    Values known only after the deployment are marked, and replacements that depend on them are ``Conditional``.
    """
    plan = _Plan(stack, template, parameters, clients=clients)
    return [{"Type": "Resource", "ResourceChange": change} for change in plan.changes()]


class _Plan:
    def __init__(
        self, stack: Stack, template: Mapping[str, Any], parameters: Mapping[str, str], *, clients: Clients
    ) -> None:
        self.stack = stack
        self.template = template
        self.changed = {name for name, value in stack.parameters.items() if parameters.get(name) != value}
        # Resources with a new physical ID, and those whose attributes may change.
        self.new_ids: set[str] = set()
        self.modified: set[str] = set()
        self.scope = stack_scope(
            stack,
            template,
            parameters,
            clients=clients,
            imports=set(),
            ref=self._ref,
            attribute=self._attribute,
        )

    def _ref(self, name: str) -> Any:
        known = name in self.stack.resources and name not in self.new_ids
        return self.stack.resources[name].physical_id if known else UNKNOWN

    def _attribute(self, name: str, attribute: str) -> Any:
        if name in self.new_ids or name in self.modified or name not in self.stack.resources:
            return UNKNOWN
        return self.stack.resources[name].attributes().get(attribute, UNKNOWN)

    def changes(self) -> Iterator[dict[str, Any]]:
        kept = set()
        for name in creation_order(self.template):
            definition = self.template["Resources"][name]
            if "Condition" in definition and not self.scope.condition(definition["Condition"]):
                continue
            kept.add(name)
            old = self.stack.resources.get(name)
            properties = resolve(definition.get("Properties") or {}, self.scope)
            if old is None:
                self.new_ids.add(name)
                yield _change("Add", name, definition["Type"]) | _contexts(None, properties)
            else:
                modified = self._modify(old, definition, properties)
                if modified:
                    yield modified
        for name, old in self.stack.resources.items():
            if name not in kept:
                policy = {"PolicyAction": "Retain" if old.retained("DeletionPolicy") else "Delete"}
                yield (
                    _change("Remove", name, old.resource_type, old.physical_id)
                    | policy
                    | _contexts(old.properties, None)
                )

    def _modify(
        self, old: StackResource, definition: Mapping[str, Any], properties: Mapping[str, Any]
    ) -> dict[str, Any] | None:
        found = list(property_changes(old.properties, properties))
        if not found:
            return None
        kind = old.resource_type
        create_only = provider_of(kind).create_only(kind, old.properties, properties)
        conditional = provider_of(kind).conditional_create_only(kind)
        details = [
            detail for one in found for detail in self._details(one, definition, create_only, conditional)
        ]
        needs = {(one["Target"]["RequiresRecreation"], one["Evaluation"]) for one in details}
        if ("Always", "Static") in needs:
            replacement = "True"
        elif any(recreation != "Never" for recreation, _ in needs):
            replacement = "Conditional"
        else:
            replacement = "False"
        (self.modified if replacement == "False" else self.new_ids).add(old.logical_id)
        change = _change("Modify", old.logical_id, kind, old.physical_id)
        if replacement == "True" and old.retained("UpdateReplacePolicy"):
            change["PolicyAction"] = "ReplaceAndRetain"
        elif replacement == "True":
            change["PolicyAction"] = "ReplaceAndDelete"
        scope = sorted({one["Target"]["Attribute"] for one in details})
        return (
            change
            | {"Replacement": replacement, "Scope": scope, "Details": details}
            | _contexts(old.properties, properties)
        )

    def _details(
        self,
        change: PropertyChange,
        definition: Mapping[str, Any],
        create_only: frozenset[tuple[str, ...]],
        conditional: frozenset[tuple[str, ...]],
    ) -> Iterator[dict[str, Any]]:
        name = change.path[0]
        unresolved = _at(change.path, definition.get("Properties") or {})
        recreation = "Never"
        if _touches(change.path, create_only):
            recreation = "Always"
        elif _touches(change.path, conditional):
            recreation = "Conditionally"
        target: dict[str, Any] = {
            "Attribute": "Tags" if name == "Tags" else "Properties",
            "RequiresRecreation": recreation,
            "Path": "/Properties/" + "/".join(change.path),
        }
        if name != "Tags":
            target["Name"] = name
        if change.before is not None:
            target["BeforeValue"] = _shown(change.before)
        if change.after is not None:
            target["AfterValue"] = _shown(change.after)
        kind = "Add" if change.before is None else "Remove" if change.after is None else "Modify"
        target["AttributeChangeType"] = kind
        named = list(dict.fromkeys(references(unresolved)))
        parameters = [one for one in named if one in self.changed]
        for one in parameters:
            source = {"ChangeSource": "ParameterReference", "CausingEntity": one}
            yield {"Target": target, "Evaluation": "Static"} | source
        unknown = UNKNOWN in _shown(change.after)
        source = {"ChangeSource": "DirectModification"}
        cause = next((one for one in named if one in self.new_ids | self.modified), "") if unknown else ""
        if cause:
            source = {"ChangeSource": "ResourceAttribute", "CausingEntity": cause}
        yield {"Target": target, "Evaluation": "Dynamic" if unknown or parameters else "Static"} | source


def _at(path: tuple[str, ...], unresolved: Any) -> Any:
    """Return the part of unresolved properties at `path`, or the function that stands for it."""
    for part in path:
        if not isinstance(unresolved, dict) or is_intrinsic(unresolved):
            break
        unresolved = unresolved.get(part)
    return unresolved


def _touches(path: tuple[str, ...], others: frozenset[tuple[str, ...]]) -> bool:
    """Return whether a changed path equals, contains or is within one of `others`; ``*`` matches any part."""
    for other in others:
        pairs = zip(path, other, strict=False)
        if all(two in {one, "*"} for one, two in pairs):
            return True
    return False


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)


def _change(action: str, logical_id: str, kind: str, physical_id: str = "") -> dict[str, Any]:
    change = {
        "Action": action,
        "LogicalResourceId": logical_id,
        "ResourceType": kind,
        "Scope": [],
        "Details": [],
    }
    return change | ({"PhysicalResourceId": physical_id} if physical_id else {})


def _contexts(before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> dict[str, str]:
    shown = {}
    if before is not None:
        shown["BeforeContext"] = json.dumps({"Properties": before}, default=str)
    if after is not None:
        shown["AfterContext"] = json.dumps({"Properties": after}, default=str)
    return shown
