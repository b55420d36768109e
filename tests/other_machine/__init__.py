"""A machine that differs from this one in what must not be seen in a template."""

from collections.abc import Mapping
from pathlib import Path

__all__ = ["another_machine"]


def another_machine() -> Mapping[str, str]:
    """Variables under which Python and Node list folders in another order and live in another year."""
    folder = Path(__file__).parent
    return {"PYTHONPATH": str(folder), "NODE_OPTIONS": f"--require={folder / 'preload.js'}"}
