"""The form in which templates are kept: sorted, a property on each line, and without the hashes of code."""

import json
import re
from collections.abc import Iterable
from typing import Any

from ultracluster_stacks.plan import StackTemplate

__all__ = ["read_kept", "text_of", "written"]

# Stands for the hash of a function's code: that changes with nearly every release, and in place.
_NO_HASH = "0" * 64

# Other hashes stay, such as that of what a node downloads.
_CODE = re.compile(r'\b[0-9a-f]{64}(?=\.zip")')

# Stacks, their fields, sections of a template, resources, attributes of a resource, properties.
_LEVELS = 6


def text_of(stacks: Iterable[StackTemplate]) -> str:
    """Write the stacks of a configuration.

    Args:
        stacks: The stacks, in any order.
    """
    kept = {
        stack.name: {"cluster": stack.cluster, "region": stack.region, "template": stack.template}
        for stack in stacks
    }
    return _CODE.sub(_NO_HASH, written(kept, _LEVELS)) + "\n"


def read_kept(text: str) -> list[StackTemplate]:
    """Read what `text_of` has written.

    Args:
        text: The text.
    """
    return [StackTemplate(name=name, **fields) for name, fields in json.loads(text).items()]


def written(value: Any, levels: int, indent: str = "") -> str:
    """Write JSON, sorted and with a line for each key of the outer levels.

    Args:
        value: What to write.
        levels: How many levels have lines of their own.
        indent: What stands before the lines of the outermost level.
    """
    if not isinstance(value, dict) or not value or not levels:
        return json.dumps(value, sort_keys=True, separators=(",", ":"))
    inside = f"{indent} "
    parts = (
        f"{inside}{json.dumps(key)}: {written(part, levels - 1, inside)}"
        for key, part in sorted(value.items())
    )
    return "{\n" + ",\n".join(parts) + f"\n{indent}}}"
