"""Edits of templates: the dangerous ones stop, the safe ones pass."""

from functools import cache
from typing import Any

import pytest
from tests.unit.stacks.plan.edits import edited, kept, name_of, read

from ultracluster_stacks.plan import StackTemplate, Stop, compare

pytestmark = pytest.mark.slow

LISTED_BEFORE_THE_RULES, EARLIER = read("template"), read("earlier")


@cache
def kept_stacks(configuration: str) -> list[StackTemplate]:
    return kept(configuration)


def stops(edit: dict[str, Any]) -> list[Stop]:
    before = kept_stacks(edit["of"])
    if "before" in edit:
        before = edited(before, {"edits": edit["before"]})
    return [*compare(before, edited(before, edit)).stops()]


@pytest.mark.parametrize("edit", LISTED_BEFORE_THE_RULES["dangerous"] + EARLIER["dangerous"], ids=name_of)
def test_a_dangerous_edit_of_a_template_stops(edit: dict[str, Any]) -> None:
    kinds = {str(stop.kind) for stop in stops(edit)}

    assert kinds, edit["why"]
    assert kinds == set(edit.get("stops", kinds)), edit["why"]


@pytest.mark.parametrize("edit", LISTED_BEFORE_THE_RULES["safe"] + EARLIER["safe"], ids=name_of)
def test_a_safe_edit_of_a_template_passes(edit: dict[str, Any]) -> None:
    assert [stop.reason for stop in stops(edit)] == [], edit["why"]
