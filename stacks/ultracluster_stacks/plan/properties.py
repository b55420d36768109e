"""Changed properties of a resource in both templates, and whether they replace it."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ultracluster_stacks.plan import resource_updates as updates
from ultracluster_stacks.plan.changes import PropertyChange
from ultracluster_stacks.plan.expressions import canonical, differences, written
from ultracluster_stacks.plan.moves import Moves, StackKey, moved_parts

# Attributes beside Properties that control the life cycle of a resource.
_LIFECYCLE_ATTRIBUTES: Final = (
    "DeletionPolicy",
    "UpdateReplacePolicy",
    "Condition",
    "CreationPolicy",
    "UpdatePolicy",
)


def property_changes(
    before: Mapping[str, Any], after: Mapping[str, Any], stack: StackKey, moves: Moves
) -> Iterator[PropertyChange]:
    """Iterate over the changed properties of a resource in both templates."""
    old, new = before.get("Properties") or {}, after.get("Properties") or {}
    rules = None if updates.is_custom(after["Type"]) else updates.replacement(after["Type"], new)
    seen = set()
    for path, old_value, new_value in differences(written(old), written(new)):
        replaces = _replaces(path, rules)
        if canonical(old_value) == canonical(new_value):
            if replaces is False:
                continue
            # CloudFormation may compare expressions, not values (github.com/aws/aws-cdk/issues/38492).
            replaces = None
        seen.add(path)
        yield PropertyChange(path=path, before=old_value, after=new_value, replaces=replaces)
    for path, value, cause, certain in moved_parts(new, stack, moves):
        if not any(path[: len(other)] == other for other in seen):
            replaces = _replaces(path, rules)
            yield PropertyChange(
                path=path,
                before=value,
                after=value,
                replaces=replaces if certain or replaces is False else None,
                cause=cause,
            )
    for name in _LIFECYCLE_ATTRIBUTES:
        moved = name == "Condition" and (stack, after.get(name)) in moves
        if moved or canonical(before.get(name)) != canonical(after.get(name)):
            replaces = None if name == "Condition" else False
            yield PropertyChange(
                path=(name,), before=before.get(name), after=after.get(name), replaces=replaces
            )
    if before["Type"] != after["Type"]:
        yield PropertyChange(path=("Type",), before=before["Type"], after=after["Type"], replaces=True)


def _replaces(path: updates.PropertyPath, rules: updates.Replacement | None) -> bool | None:
    if rules is None:
        return None
    if updates.touches(path, rules.always):
        return True
    return None if updates.touches(path, rules.sometimes) else False
