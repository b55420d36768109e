"""Compare the stacks before and after, propagating replacements to everything that refers to them."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from ultracluster_stacks.plan.assets import changes_code
from ultracluster_stacks.plan.changes import (
    REPLACES,
    Action,
    Plan,
    PropertyChange,
    ResourceChange,
    ResourceUpdate,
    StackChange,
    StackState,
    Stop,
    StopKind,
)
from ultracluster_stacks.plan.expressions import canonical, macros, references
from ultracluster_stacks.plan.literals import resolved
from ultracluster_stacks.plan.moves import Moved, Moves, StackKey, export_stops, importers, moved_exports
from ultracluster_stacks.plan.permissions import widened
from ultracluster_stacks.plan.properties import property_changes
from ultracluster_stacks.plan.resource_updates import MOVING_ATTRIBUTES, MOVING_IDS
from ultracluster_stacks.plan.stops import block_of, notes_of, stops_of
from ultracluster_stacks.plan.templates import StackTemplate

_RETAINING: Final = frozenset({"Retain", "RetainExceptOnCreate", "Snapshot"})


def compare(
    before: Sequence[StackTemplate], after: Sequence[StackTemplate], *, idle_blocks: Collection[str] = ()
) -> Plan:
    """Return the plan of a deployment.

    Stacks are matched by name and Region, and are all in one account. Nothing runs now in idle Capacity Blocks.
    """
    before, after = _with_accounts(before, after)
    before, after = ([resolved(stack) for stack in stacks] for stacks in (before, after))
    old_stacks = {stack.key: stack for stack in before}
    pairs = [(old_stacks[new.key], new) for new in after if new.key in old_stacks]
    judged = _settled(pairs, idle_blocks)
    importing = importers(before)
    stacks = []
    for new in after:
        if new.key in judged:
            old, judgement = old_stacks[new.key], judged[new.key]
            stops = (*export_stops(old, new, judgement.moves, importing), *_macro_stops(old, new))
            stacks.append(_stack_change(old, new, judgement, stops))
        else:
            stacks.append(_unchanged_parts(new, StackState.NEW))
    defined = {new.key for new in after}
    stacks += [
        replace(_unchanged_parts(old, StackState.LEFT), stops=(_left(old),))
        for old in before
        if old.key not in defined
    ]
    return Plan(stacks=tuple(stacks))


def _with_accounts(
    before: Sequence[StackTemplate], after: Sequence[StackTemplate]
) -> tuple[Sequence[StackTemplate], Sequence[StackTemplate]]:
    """Write out the account where one side of a stack names it and the other means that of the credentials."""
    accounts = {stack.key: stack.account for stack in (*before, *after) if stack.account}
    written = [
        [
            replace(stack, template=_with_account(stack.template, accounts[stack.key]))
            if stack.key in accounts
            else stack
            for stack in stacks
        ]
        for stacks in (before, after)
    ]
    return written[0], written[1]


def _with_account(value: Any, account: str) -> Any:
    if value == {"Ref": "AWS::AccountId"}:
        return account
    if isinstance(value, Mapping):
        return {key: _with_account(part, account) for key, part in value.items()}
    if isinstance(value, list):
        return [_with_account(part, account) for part in value]
    return value.replace("${AWS::AccountId}", account) if isinstance(value, str) else value


def _left(stack: StackTemplate) -> Stop:
    reason = (
        "it is no longer defined: it stays deployed and is billed until `ultracluster destroy` removes it"
    )
    return Stop(kind=StopKind.CAPACITY, reason=reason, allow=f"leave:{stack.name}")


def _macro_stops(old: StackTemplate, new: StackTemplate) -> Iterator[Stop]:
    """Stop a macro or hook outside of the resources, which may rewrite any of them."""
    for section in sorted({*old.template, *new.template} - {"Resources"}):
        before, after = (canonical(stack.template.get(section)) for stack in (old, new))
        whole = section in {"Transform", "Hooks"}
        if before != after if whole else macros(before) != macros(after):
            reason = f"{section} changes: it may rewrite every resource of the stack"
            yield Stop(kind=StopKind.UNKNOWN, reason=reason, allow=f"change:{new.name}/{section}")


def _unchanged_parts(stack: StackTemplate, state: StackState) -> StackChange:
    return StackChange(
        cluster=stack.cluster,
        name=stack.name,
        region=stack.region,
        state=state,
        resources=len(stack.resources),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Judgement:
    """Changes of one stack, and the references whose value changes with them."""

    changes: tuple[ResourceChange, ...]
    moves: Moves


def _settled(
    pairs: list[tuple[StackTemplate, StackTemplate]], idle_blocks: Collection[str]
) -> dict[StackKey, _Judgement]:
    """Judge all stacks repeatedly until the set of moved references no longer grows."""
    moves: Moves = {}
    while True:
        judged = {new.key: _judge_stack(old, new, moves, idle_blocks) for old, new in pairs}
        new_moves: dict[tuple[StackKey, str], Moved] = {}
        for judgement in judged.values():
            new_moves |= judgement.moves
        if new_moves == moves:
            return judged
        moves = new_moves


def _judge_stack(
    old: StackTemplate, new: StackTemplate, moves: Moves, idle_blocks: Collection[str]
) -> _Judgement:
    changes = []
    own_moves: dict[tuple[StackKey, str], Moved] = {}
    for logical_id in [*new.resources, *(name for name in old.resources if name not in new.resources)]:
        change = _resource_change(old, new, logical_id, moves, idle_blocks)
        if change is None:
            continue
        changes.append(change)
        moved = _moved_by(change)
        if moved:
            own_moves[new.key, logical_id] = moved
    own_moves |= {(new.key, name): moved for name, moved in _changed_definitions(old, new).items()}
    exports = moved_exports(old, new, {**moves, **own_moves})
    return _Judgement(changes=tuple(changes), moves=own_moves | exports)


def _moved_by(change: ResourceChange) -> Moved | None:
    kind = change.resource_type
    if change.action in REPLACES:
        return Moved(certain=change.action is Action.REPLACE)
    if change.action is not Action.UPDATE:
        return None
    if kind in MOVING_IDS:
        return Moved(certain=True)
    attributes = [attribute for moving, attribute in MOVING_ATTRIBUTES if moving == kind]
    return Moved(certain=True, attribute=attributes[0]) if attributes else None


def _changed_definitions(old: StackTemplate, new: StackTemplate) -> dict[str, Moved]:
    """Return parameters with another default, and mappings and conditions with another definition."""
    before, after = (stack.template.get("Parameters") or {} for stack in (old, new))
    moved = {
        name: Moved(certain=True)
        for name in after
        if name in before and before[name].get("Default") != after[name].get("Default")
    }
    for section in ("Mappings", "Conditions"):
        before, after = (stack.template.get(section) or {} for stack in (old, new))
        moved |= {
            name: Moved(certain=False)
            for name in after
            if name in before and canonical(before[name]) != canonical(after[name])
        }
    conditions = new.template.get("Conditions") or {}
    for _ in conditions:  # a condition may use another one
        moved |= {
            name: Moved(certain=False)
            for name, condition in conditions.items()
            if name not in moved and any(reference.name in moved for reference in references(condition))
        }
    return moved


def _stack_change(
    old: StackTemplate, new: StackTemplate, judgement: _Judgement, stops: tuple[Stop, ...]
) -> StackChange:
    outputs = canonical(old.template.get("Outputs")) == canonical(new.template.get("Outputs"))
    same = not judgement.changes and not stops and outputs
    return StackChange(
        cluster=new.cluster,
        name=new.name,
        region=new.region,
        state=StackState.SAME if same else StackState.CHANGED,
        changes=judgement.changes,
        stops=stops,
        resources=len(new.resources),
    )


def _resource_change(
    old: StackTemplate, new: StackTemplate, logical_id: str, moves: Moves, idle_blocks: Collection[str]
) -> ResourceChange | None:
    before, after = old.resources.get(logical_id, {}), new.resources.get(logical_id, {})
    properties: tuple[PropertyChange, ...] = ()
    if not before:
        action = Action.ADD
    elif not after:
        action = Action.RETAIN if before.get("DeletionPolicy") in _RETAINING else Action.REMOVE
    else:
        properties = tuple(property_changes(before, after, new.key, moves))
        if not properties:
            return None
        action = _update_action(before, after, properties)
    kind = str((before or after)["Type"])
    leaves_behind = action is Action.RETAIN or (
        action in REPLACES and before.get("UpdateReplacePolicy") in _RETAINING
    )
    change = ResourceChange(
        stack=new.name,
        logical_id=logical_id,
        resource_type=kind,
        path=new.paths.get(logical_id) or old.paths.get(logical_id, ""),
        action=action,
        leaves_behind=leaves_behind,
        properties=properties,
        widened=widened(kind, before.get("Properties") or {}, after.get("Properties") or {}),
        notes=("the code changes",) if any(map(changes_code, properties)) else (),
        stops=(),
    )
    update = ResourceUpdate(
        change=change,
        before=before,
        after=after,
        old_resources=old.resources,
        new_resources=new.resources,
        block=block_of(before, old.resources, idle_blocks),
        account=new.account or old.account,
        idle_blocks=idle_blocks,
    )
    return replace(change, notes=change.notes + notes_of(update), stops=stops_of(update))


def _update_action(
    before: Mapping[str, Any], after: Mapping[str, Any], properties: tuple[PropertyChange, ...]
) -> Action:
    if before["Type"] != after["Type"] or any(change.replaces for change in properties):
        return Action.REPLACE
    if any(change.replaces is None for change in properties):
        return Action.MAY_REPLACE
    return Action.UPDATE
