"""Alarms of a cluster."""

from typing import Final

REMINDING_ALARMS: Final = frozenset({"Unused", "DrainComing"})
"""IDs of alarms about unused capacity and the end of a block. They do not indicate a bad deployment."""
