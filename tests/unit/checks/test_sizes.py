"""Sizes that AWS refuses, with the least that references become."""

from typing import Any

import pytest
from tests.unit.checks.whole_cluster import codes_after

JOB = "JobDefinition/NodeProperties/NodeRangeProperties/0/Container"

BROKEN: list[tuple[str, str, dict[str, Any]]] = [
    ("UC6411", "Cluster", {f"{JOB}/Command": ["x" * 24_000]}),
]  # fmt: skip


@pytest.mark.parametrize(("code", "stack", "edits"), BROKEN)
def test_edit_breaks_the_rule(code: str, stack: str, edits: dict[str, Any]) -> None:
    assert code in codes_after(stack, edits)
