"""What the CDK CLI tells an app through its environment."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["read_context"]


def read_context(environment: Mapping[str, str]) -> dict[str, Any]:
    """Return the context values, as ``aws_cdk.App`` would see them.

    Args:
        environment: Environment of the process. What is too long for a variable comes in a file that one names.
    """
    context: dict[str, Any] = json.loads(environment.get("CDK_CONTEXT_JSON") or "{}")
    if overflow := environment.get("CONTEXT_OVERFLOW_LOCATION_ENV"):
        context |= json.loads(Path(overflow).read_text(encoding="utf-8"))
    return context
