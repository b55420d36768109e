"""What changes in one resource that stays in its stack, property by property, and what of it forces a new one."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ultracluster_stacks.plan.changes import PropertyChange
from ultracluster_stacks.plan.expressions import canonical, differences, written
from ultracluster_stacks.plan.moves import Moves, StackKey, moved_parts
from ultracluster_stacks.plan.resource_updates import (
    PropertyPath,
    Replacement,
    is_custom,
    replacement,
    touches,
)

__all__ = ["property_changes"]

# What stands beside Properties and says something about the life of a resource.
_LIFE: Final = ("DeletionPolicy", "UpdateReplacePolicy", "Condition", "CreationPolicy", "UpdatePolicy")


def property_changes(
    before: Mapping[str, Any], after: Mapping[str, Any], stack: StackKey, moves: Moves
) -> Iterator[PropertyChange]:
    """Give every change of a resource that is in both templates.

    Args:
        before: The resource in the old template.
        after: The resource in the new template.
        stack: Its stack.
        moves: What has another value although it is written the same.
    """
    old, new = before.get("Properties") or {}, after.get("Properties") or {}
    rules = None if is_custom(after["Type"]) else replacement(after["Type"], new)
    seen = set()
    for path, was, becomes in differences(written(old), written(new)):
        forces = _forces(path, rules)
        if canonical(was) == canonical(becomes):
            if forces is False:
                continue
            # CloudFormation may go by the expression and not by its value (github.com/aws/aws-cdk/issues/38492).
            forces = None
        seen.add(path)
        yield PropertyChange(path=path, before=was, after=becomes, replaces=forces)
    for path, value, cause, certain in moved_parts(new, stack, moves):
        if not any(path[: len(one)] == one for one in seen):
            forces = _forces(path, rules)
            yield PropertyChange(
                path=path,
                before=value,
                after=value,
                replaces=forces if certain or forces is False else None,
                cause=cause,
            )
    for name in _LIFE:
        if canonical(before.get(name)) != canonical(after.get(name)):
            replaces = None if name == "Condition" else False
            yield PropertyChange(
                path=(name,), before=before.get(name), after=after.get(name), replaces=replaces
            )
    if before["Type"] != after["Type"]:
        yield PropertyChange(path=("Type",), before=before["Type"], after=after["Type"], replaces=True)


def _forces(path: PropertyPath, rules: Replacement | None) -> bool | None:
    if rules is None:
        return None
    if touches(path, rules.always):
        return True
    return None if touches(path, rules.sometimes) else False
