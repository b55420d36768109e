"""Edits that a plan must stop at, and edits that it must let pass, with the reason of each."""

import copy
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml
from tests.golden.synthesis import stacks_of

from ultracluster_stacks.plan import StackTemplate

__all__ = ["edited", "kept", "name_of", "put", "read"]

# That of libyaml reads in a tenth of the time; each process of the tests reads 120 KB when it collects them.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read(kind: str) -> Mapping[str, list[dict[str, Any]]]:
    """The dangerous and the safe edits of a file: ``template``, ``rollout`` or ``earlier``."""
    text = (Path(__file__).parent / f"{kind}_edits.yaml").read_text("utf-8")
    return dict(yaml.load(text, Loader=_LOADER))  # noqa: S506 - one of both safe loaders


def name_of(edit: Mapping[str, Any]) -> str:
    return f"{edit['of']} {edit.get('in', '')}: {edit['why']}"


def kept(configuration: str) -> list[StackTemplate]:
    """The templates that a configuration gives today."""
    return stacks_of(f"{configuration}.yaml")


def edited(stacks: Iterable[StackTemplate], edit: Mapping[str, Any]) -> list[StackTemplate]:
    """The stacks after an edit of a template, or after its several ``edits``."""
    stacks = copy.deepcopy([*stacks])
    for step in edit.get("edits", [edit]):
        _apply(stacks, step)
    return stacks


def _apply(stacks: Iterable[StackTemplate], edit: Mapping[str, Any]) -> None:
    if "add" in edit or "template" in edit:
        wanted = edit.get("to", "-Cluster")
        (template,) = [stack.template for stack in stacks if stack.name.endswith(wanted)]
        added = {edit.get("id", "Added"): edit["add"]} if "add" in edit else {}
        template.get("Resources", {}).update(added)
        for section, value in edit.get("template", {}).items():
            merged = template.get(section, {}) | value if isinstance(value, dict) else value
            if isinstance(merged, dict):
                merged = {name: one for name, one in merged.items() if one is not None}
            template[section] = merged  # type: ignore[index]
        return
    pattern = re.compile(re.escape(edit["in"]) + "([0-9A-F]{8})?")
    ((resources, logical_id),) = [
        (stack.template["Resources"], logical_id)
        for stack in stacks
        if edit.get("stack", stack.name) == stack.name
        for logical_id in stack.template["Resources"]
        if pattern.fullmatch(logical_id)
    ]
    if edit.get("drop"):
        del resources[logical_id]
        return
    resource = resources[logical_id]
    for path, value in edit.get("set", {}).items():
        put(resource.setdefault("Properties", {}), path.split("."), value)
    for path in edit.get("remove", []):
        *way, last = path.split(".")
        place = resource["Properties"]
        for part in way:
            place = place[int(part)] if isinstance(place, list) else place[part]
        del place[int(last) if isinstance(place, list) else last]
    resource |= edit.get("attributes", {})
    for name in [name for name, value in resource.items() if value is None]:
        del resource[name]


def put(place: Any, path: list[str], value: Any) -> None:
    """Set a value at a path; None takes it away, and the number after the last of a list appends."""
    *way, last = path
    for part in way:
        place = place[int(part)] if isinstance(place, list) else place.setdefault(part, {})
    if value is None:
        place.pop(last, None)
    elif isinstance(place, list):
        place[int(last) : int(last) + 1] = [value]
    else:
        place[last] = value
