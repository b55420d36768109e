"""Compare the code of Lambda functions, which templates refer to only by a hash."""

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from ultracluster_stacks.plan.changes import PropertyChange
from ultracluster_stacks.plan.expressions import canonical
from ultracluster_stacks.plan.templates import StackTemplate

ASSET_HASH: Final = re.compile(r"\b[0-9a-f]{64}\b")
"""Name of an asset: the hash of its content."""

_FILES_NAMED: Final = 10


def code_note(change: PropertyChange, old: StackTemplate, new: StackTemplate) -> str | None:
    """Return a note that code changes, with the files if both versions are available, or None if it does not."""
    before, after = (
        ASSET_HASH.search(json.dumps(canonical(value))) for value in (change.before, change.after)
    )
    if not before or not after or before[0] == after[0]:
        return None
    files = [_files(stack, match[0]) for stack, match in ((old, before), (new, after))]
    if None in files:
        return "the code changes"
    old_files, new_files = (contents or {} for contents in files)
    changed = sorted(name for name in {*old_files, *new_files} if old_files.get(name) != new_files.get(name))
    if not changed:
        return "only the hash of the code changes: all files are the same"
    more = f" and {len(changed) - _FILES_NAMED} more" if len(changed) > _FILES_NAMED else ""
    return f"the code changes: {', '.join(changed[:_FILES_NAMED])}{more}"


def _files(stack: StackTemplate, asset: str) -> Mapping[str, bytes] | None:
    """Return the files of an asset by path, or None if the asset is not available."""
    if stack.assembly is None:
        return None
    for manifest in sorted(stack.assembly.glob("*.assets.json")):
        assets: Mapping[str, Any] = json.loads(manifest.read_text("utf-8")).get("files") or {}
        if asset in assets:
            folder = stack.assembly / str(assets[asset].get("source", {}).get("path", ""))
            return _contents(folder) if folder.is_dir() else None
    return None


def _contents(folder: Path) -> dict[str, bytes]:
    return {
        os.path.relpath(Path(place) / name, folder): (Path(place) / name).read_bytes()
        for place, _, names in os.walk(folder)
        for name in names
    }
