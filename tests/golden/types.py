"""How many resources of which types each stack of a configuration has."""

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from ultracluster_stacks.plan import StackTemplate

__all__ = ["NUMBERS", "numbers_of_types"]

NUMBERS = Path(__file__).with_suffix(".json")
"""By configuration and stack."""


def numbers_of_types(stacks: Iterable[StackTemplate]) -> Mapping[str, Mapping[str, int]]:
    """Count the resources of each stack by type.

    Args:
        stacks: The stacks of a configuration.
    """
    return {
        stack.name: dict(sorted(Counter(each["Type"] for each in stack.resources.values()).items()))
        for stack in stacks
    }
