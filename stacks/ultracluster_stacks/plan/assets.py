"""Which files of a function's code differ: a template names them only by the hash of all of them."""

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from ultracluster_stacks.plan.changes import PropertyChange
from ultracluster_stacks.plan.expressions import canonical
from ultracluster_stacks.plan.templates import StackTemplate

__all__ = ["ASSET_HASH", "code_note"]

ASSET_HASH: Final = re.compile(r"\b[0-9a-f]{64}\b")
"""The name of an asset: the hash of what it holds."""

_FILES_NAMED: Final = 10


def code_note(change: PropertyChange, old: StackTemplate, new: StackTemplate) -> str | None:
    """Say that code changes, and in which files if both are on this machine. None if no asset changes.

    Args:
        change: A property that changes.
        old: The stack before.
        new: The stack after.
    """
    before, after = (ASSET_HASH.search(json.dumps(canonical(one))) for one in (change.before, change.after))
    if not before or not after or before[0] == after[0]:
        return None
    files = [_files(stack, found[0]) for stack, found in ((old, before), (new, after))]
    if None in files:
        return "the code changes"
    was, becomes = (one or {} for one in files)
    changed = sorted(name for name in {*was, *becomes} if was.get(name) != becomes.get(name))
    if not changed:
        return "the code changes in its hash only: every file is the same"
    more = f" and {len(changed) - _FILES_NAMED} more" if len(changed) > _FILES_NAMED else ""
    return f"the code changes: {', '.join(changed[:_FILES_NAMED])}{more}"


def _files(stack: StackTemplate, asset: str) -> Mapping[str, bytes] | None:
    """The contents of an asset by path; None if it is not here."""
    if stack.assembly is None:
        return None
    for manifest in sorted(stack.assembly.glob("*.assets.json")):
        listed: Mapping[str, Any] = json.loads(manifest.read_text("utf-8")).get("files") or {}
        if asset in listed:
            folder = stack.assembly / str(listed[asset].get("source", {}).get("path", ""))
            return _contents(folder) if folder.is_dir() else None
    return None


def _contents(folder: Path) -> dict[str, bytes]:
    return {
        os.path.relpath(Path(place) / name, folder): (Path(place) / name).read_bytes()
        for place, _, names in os.walk(folder)
        for name in names
    }
