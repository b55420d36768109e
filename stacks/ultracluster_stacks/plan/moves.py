"""What has another value although it is written the same: ids of new resources, and exports that give them on."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ultracluster_stacks.plan.changes import Stop, StopKind
from ultracluster_stacks.plan.expressions import IMPORT, Reference, canonical, is_expression, references
from ultracluster_stacks.plan.resource_updates import PropertyPath
from ultracluster_stacks.plan.templates import StackTemplate

__all__ = ["Moved", "Moves", "StackKey", "export_stops", "importers", "moved_exports", "moved_parts"]


@dataclass(frozen=True, slots=True)
class Moved:
    """What refers to a resource or an export will see another value: surely, or perhaps.

    Attributes:
        certain: Whether it is sure.
        attribute: The one attribute that moves; None for the id and all attributes.
    """

    certain: bool
    attribute: str | None = None


StackKey = tuple[str, str]
"""Region and name of a stack."""

Moves = Mapping[tuple[StackKey, str], Moved]
"""By stack and logical id or parameter; by Region without a stack and name for exports."""


Importers = Mapping[tuple[str, str], list[str]]
"""Names of stacks by Region and name of the export that they import."""


def moved_exports(old: StackTemplate, new: StackTemplate, moves: Moves) -> dict[tuple[StackKey, str], Moved]:
    """Give the exports of a stack whose value changes.

    Args:
        old: The stack before.
        new: The stack after.
        moves: What moves in it.
    """
    before = _exports(old)
    found = {}
    for name, value in _exports(new).items():
        causes = [moved for one in references(value) if (moved := _found(moves, new.key, one))]
        if name in before and canonical(before[name]) != canonical(value):
            found[_export_key(new.key, name)] = Moved(certain=True)
        elif causes:
            found[_export_key(new.key, name)] = Moved(certain=any(one.certain for one in causes))
    return found


def importers(stacks: Iterable[StackTemplate]) -> Importers:
    """Name the stacks that import each export, sorted.

    Args:
        stacks: All stacks as they are deployed.
    """
    found: dict[tuple[str, str], list[str]] = {}
    for stack in sorted(stacks, key=lambda one: one.name):
        imported = {
            one.name for one in references(stack.template.get("Resources")) if one.attribute == IMPORT
        }
        for name in imported:
            found.setdefault((stack.region, name), []).append(stack.name)
    return found


def export_stops(
    old: StackTemplate, new: StackTemplate, moves: Moves, importing: Importers
) -> tuple[Stop, ...]:
    """Say which exports in use would change or go; CloudFormation refuses that, whatever the importers become.

    Args:
        old: The stack before.
        new: The stack after.
        moves: What moves in it, its exports included.
        importing: Who imports what, as it is deployed.
    """
    remaining = _exports(new)
    stops = []
    for name in _exports(old):
        moved = moves.get(_export_key(old.key, name))
        users = importing.get((old.region, name))
        if users and (moved or name not in remaining):
            what = "changes" if name in remaining else "goes"
            certainly = "may refuse" if moved and not moved.certain else "would refuse"
            reason = f"the export {name} {what} while {', '.join(users)} imports it; CloudFormation {certainly} the update"
            stops.append(Stop(kind=StopKind.REFUSED, reason=reason, allow=None))
    return tuple(stops)


def moved_parts(
    value: Any, stack: StackKey, moves: Moves, path: PropertyPath = ()
) -> Iterator[tuple[PropertyPath, Any, str, bool]]:
    """Give each expression that sees another value although it is written the same: path, itself, cause, sure or not."""
    if is_expression(value):
        for one in references(value):
            moved = _found(moves, stack, one)
            if moved:
                yield path, value, one.name, moved.certain
                return
    elif isinstance(value, dict):
        for key, part in value.items():
            yield from moved_parts(part, stack, moves, (*path, key))
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from moved_parts(part, stack, moves, (*path, str(index)))


def _found(moves: Moves, stack: StackKey, reference: Reference) -> Moved | None:
    if reference.attribute == IMPORT:
        return moves.get(_export_key(stack, reference.name))
    moved = moves.get((stack, reference.name))
    return moved if moved and moved.attribute in {None, reference.attribute} else None


def _export_key(stack: StackKey, name: str) -> tuple[StackKey, str]:
    return (stack[0], ""), name


def _exports(stack: StackTemplate) -> dict[str, Any]:
    outputs = (stack.template.get("Outputs") or {}).values()
    named = [(canonical(one["Export"]["Name"]), one.get("Value")) for one in outputs if "Export" in one]
    return {name: value for name, value in named if isinstance(name, str)}
