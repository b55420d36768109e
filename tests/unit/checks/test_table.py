"""The table of rules."""

import importlib
from pathlib import Path

import pytest
from tests.unit.checks.defects import DEFECTS, Edits
from tests.unit.checks.edits import codes_after

from ultracluster_checks import Source, check_templates
from ultracluster_checks.table import CHECKS, RECORDS, template_codes


def test_a_rule_is_in_the_table_once() -> None:
    assert len(set(CHECKS)) == len(CHECKS)


def test_only_rules_for_templates_are_marked_as_never_left_out() -> None:
    never = {code for code, rule in RECORDS.items() if rule.never_left_out}

    assert never
    assert never <= template_codes()


@pytest.mark.parametrize("name", ["batch-efa", "block-nodes", "lustre-data"])
def test_a_good_template_of_other_people_breaks_nothing(foreign: dict[str, Source], name: str) -> None:
    assert check_templates([foreign[name]]).findings == ()


@pytest.mark.parametrize(
    ("codes", "base", "edits"),
    [pytest.param(codes, base, edits, id=name) for codes, base, name, edits in DEFECTS],
)
def test_a_mistake_breaks_the_rules_that_it_is_about(
    foreign: dict[str, Source], codes: str, base: str, edits: Edits
) -> None:
    assert codes_after(foreign, base, edits) == codes.split()


def test_every_rule_is_broken_by_some_edit() -> None:
    broken = {code for codes, *_ in DEFECTS for code in codes.split()}
    for path in Path(__file__).parent.glob("test_*.py"):
        tests = importlib.import_module(f"tests.unit.checks.{path.stem}")
        broken |= {code for code, *_ in getattr(tests, "BROKEN", ())}

    assert broken == template_codes()
