"""Edits of templates that were listed before the rules were written: the dangerous ones stop, the safe ones pass."""

from functools import cache
from typing import Any

import pytest
from tests.unit.stacks.plan.edits import edited, kept, name_of, read

from ultracluster_stacks.plan import StackTemplate, Stop, compare

pytestmark = pytest.mark.slow

EDITS = read("template")


@cache
def before(configuration: str) -> list[StackTemplate]:
    return kept(configuration)


def stops(edit: dict[str, Any]) -> list[Stop]:
    stacks = before(edit["of"])
    return [*compare(stacks, edited(stacks, edit)).stops()]


@pytest.mark.parametrize("edit", EDITS["dangerous"], ids=name_of)
def test_a_dangerous_edit_of_a_template_stops(edit: dict[str, Any]) -> None:
    assert stops(edit), edit["why"]


@pytest.mark.parametrize("edit", EDITS["safe"], ids=name_of)
def test_a_safe_edit_of_a_template_passes(edit: dict[str, Any]) -> None:
    assert [stop.reason for stop in stops(edit)] == [], edit["why"]
