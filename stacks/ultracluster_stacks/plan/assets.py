"""The code of Lambda functions, which templates refer to only by a hash."""

import json
import re
from typing import Final

from ultracluster_stacks.plan.changes import PropertyChange
from ultracluster_stacks.plan.expressions import canonical

ASSET_HASH: Final = re.compile(r"\b[0-9a-f]{64}\b")
"""Name of an asset: the hash of its content."""


def changes_code(change: PropertyChange) -> bool:
    """Return whether a property names other code than before."""
    before, after = (
        ASSET_HASH.search(json.dumps(canonical(value))) for value in (change.before, change.after)
    )
    return bool(before and after and before[0] != after[0])
