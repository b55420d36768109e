"""References whose value changes although their expression does not: IDs of new resources, and their exports."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ultracluster_stacks.plan.changes import Stop
from ultracluster_stacks.plan.expressions import IMPORT, Reference, canonical, is_expression, references
from ultracluster_stacks.plan.resource_updates import PropertyPath
from ultracluster_stacks.plan.templates import StackTemplate


@dataclass(frozen=True, slots=True)
class Moved:
    """A resource or export whose value changes for everything that refers to it, or only one of its attributes."""

    certain: bool
    attribute: str | None = None


StackKey = tuple[str, str]
"""Region and name of a stack."""

Moves = Mapping[tuple[StackKey, str], Moved]
"""Moved values by stack and logical ID or parameter; for exports by Region without a stack, and name."""


Importers = Mapping[tuple[str, str], list[str]]
"""Names of the importing stacks, by Region and name of the export."""


def moved_exports(old: StackTemplate, new: StackTemplate, moves: Moves) -> dict[tuple[StackKey, str], Moved]:
    """Return the exports of a stack whose value changes."""
    before = _exports(old)
    exports = {}
    for name, value in _exports(new).items():
        causes = [moved for reference in references(value) if (moved := _moved(moves, new.key, reference))]
        if name in before and canonical(before[name]) != canonical(value):
            exports[_export_key(new.key, name)] = Moved(certain=True)
        elif causes:
            exports[_export_key(new.key, name)] = Moved(certain=any(cause.certain for cause in causes))
    return exports


def importers(stacks: Iterable[StackTemplate]) -> Importers:
    """Return the sorted names of the stacks that import each export."""
    names: dict[tuple[str, str], list[str]] = {}
    for stack in sorted(stacks, key=lambda stack: stack.name):
        imported = {
            reference.name
            for reference in references(stack.template.get("Resources"))
            if reference.attribute == IMPORT
        }
        for name in imported:
            names.setdefault((stack.region, name), []).append(stack.name)
    return names


def export_stops(
    old: StackTemplate, new: StackTemplate, moves: Moves, importing: Importers
) -> tuple[Stop, ...]:
    """Return a reason to stop for each imported export that would change or be removed, which CloudFormation refuses."""
    remaining = _exports(new)
    stops = []
    for name in _exports(old):
        moved = moves.get(_export_key(old.key, name))
        users = importing.get((old.region, name))
        if users and (moved or name not in remaining):
            change = "changes" if name in remaining else "is removed"
            verb = "may refuse" if moved and not moved.certain else "would refuse"
            reason = f"the export {name} {change} while {', '.join(users)} imports it; CloudFormation {verb} the update"
            stops.append(Stop.refused(reason))
    return tuple(stops)


def moved_parts(
    value: Any, stack: StackKey, moves: Moves, path: PropertyPath = ()
) -> Iterator[tuple[PropertyPath, Any, str, bool]]:
    """Iterate over unchanged expressions with a moved value: path, expression, cause, and whether it is certain."""
    if is_expression(value):
        for reference in references(value):
            moved = _moved(moves, stack, reference)
            if moved:
                yield path, value, reference.name, moved.certain
                return
    elif isinstance(value, dict):
        for key, part in value.items():
            yield from moved_parts(part, stack, moves, (*path, key))
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from moved_parts(part, stack, moves, (*path, str(index)))


def _moved(moves: Moves, stack: StackKey, reference: Reference) -> Moved | None:
    if reference.attribute == IMPORT:
        return moves.get(_export_key(stack, reference.name))
    moved = moves.get((stack, reference.name))
    return moved if moved and moved.attribute in {None, reference.attribute} else None


def _export_key(stack: StackKey, name: str) -> tuple[StackKey, str]:
    return (stack[0], ""), name


def _exports(stack: StackTemplate) -> dict[str, Any]:
    outputs = (stack.template.get("Outputs") or {}).values()
    exports = [
        (canonical(output["Export"]["Name"]), output.get("Value")) for output in outputs if "Export" in output
    ]
    return {name: value for name, value in exports if isinstance(name, str)}
