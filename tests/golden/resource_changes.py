"""What an update does to a deployment, and whether the changelog names it.

A line under *Resource changes* that begins with such a word in backquotes allows what it names, in all configurations:

    - `replace:*-Storage/FileSystem*`: what happens to users, and what they do before.

The word is that of `ultracluster plan --allow`: what happens, the stack, the logical id; an asterisk stands for anything.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from fnmatch import fnmatchcase

from ultracluster_stacks.plan import Action, Plan, StackState

__all__ = ["dangers", "named_since", "unexplained", "unused"]

_SECTION = re.compile(r"^## \[(?P<version>[^\]]+)\]", re.MULTILINE)
_HEADING = re.compile(r"^### (?P<heading>.+)$", re.MULTILINE)
_WORD = re.compile(r"^- `(?P<word>(?:change|replace|remove):[^`/\s]+/[^`\s]+)`: \S", re.MULTILINE)
_VERBS = {
    Action.REPLACE: "replace",
    Action.MAY_REPLACE: "replace",
    Action.RETAIN: "remove",
    Action.REMOVE: "remove",
}


def named_since(changelog: str, version: str | None) -> list[str]:
    """The words of all versions that are newer.

    Args:
        changelog: The text of the changelog.
        version: A version that it has. None for the newest section alone, when nothing is released.
    """
    versions = list(_SECTION.finditer(changelog))
    names = [section["version"] for section in versions]
    number = 1 if version is None else names.index(version)
    end = versions[number].start() if number < len(versions) else len(changelog)
    headings = list(_HEADING.finditer(changelog, 0, end))
    stops = [*(found.start() for found in (*versions, *headings)), len(changelog)]
    return [
        word["word"]
        for heading in headings
        if heading["heading"] == "Resource changes"
        for word in _WORD.finditer(
            changelog, heading.end(), min(stop for stop in stops if stop > heading.start())
        )
    ]


def dangers(plan: Plan) -> Iterator[tuple[str | None, str]]:
    """Give each change that a release must name, with its word; None for what would fail and cannot be named.

    That is everything that stops `ultracluster plan`, and whatever else is replaced or removed.

    Args:
        plan: The plan from what was kept to what is synthesized today.
    """
    for stack in plan.stacks:
        for stop in stack.stops:
            yield stop.allow, f"{stack.name}: {stop.reason}"
        if stack.state is StackState.LEFT:
            yield f"remove:{stack.name}/*", f"{stack.name}: the stack is no longer defined"
        for change in stack.changes:
            name = f"{stack.name}/{change.logical_id} ({change.path or change.resource_type})"
            for stop in change.stops:
                yield stop.allow, f"{name}: {stop.reason}"
            if change.action in _VERBS:
                word = f"{_VERBS[change.action]}:{stack.name}/{change.logical_id}"
                yield word, f"{name}: {change.action}"


def unexplained(plan: Plan, named: Collection[str]) -> list[str]:
    """Give what happens to a deployment and the changelog does not name.

    Args:
        plan: The plan from what was kept to what is synthesized today.
        named: The words of the changelog.
    """
    return [
        f"{reason}; name it under Resource changes: {word or 'it cannot be named, since it would fail'}"
        for word, reason in dangers(plan)
        if word is None or not any(fnmatchcase(word, pattern) for pattern in named)
    ]


def unused(plans: Sequence[Plan], named: Collection[str]) -> list[str]:
    """Give the words that name nothing of what happens.

    Args:
        plans: The plans of all configurations from the newest released version to today.
        named: The words of the changelog since that version.
    """
    happens = {word for plan in plans for word, _ in dangers(plan) if word}
    return [pattern for pattern in named if not any(fnmatchcase(word, pattern) for word in happens)]
