"""Seeded defects, and who finds them: docs/evidence/defects.md has the table, and tests/deep asks every judge about every defect."""

import re
from collections import Counter
from pathlib import Path

import pytest
from tests.golden.kept import read_kept
from tests.unit.checks.defects import DEFECTS
from tests.unit.checks.judges import is_caught

from ultracluster_checks import Source, check_templates
from ultracluster_rules.findings import Finding

ROOT = Path(__file__).parents[3]
KEPT = sorted((ROOT / "tests/golden/next").glob("*.json"))

DISPOSABLE = "disposable.yaml.json"  # removal_policy: destroy

# Nobody finds these.
MISSED: dict[str, str] = {}


def test_the_defects_are_about_four_subjects() -> None:
    assert Counter(defect.subject for defect in DEFECTS) == {
        "schema": 42,
        "hpc": 79,
        "security": 32,
        "state": 16,
    }
    assert len({defect.name for defect in DEFECTS}) == len(DEFECTS)


def test_our_rules_find_every_defect_but_those_of_schemas() -> None:
    missed = Counter(defect.subject for defect in DEFECTS if not is_caught(defect, "our rules"))

    assert missed == {"schema": 25}


def test_what_is_left_is_found_by_others_but_for_these() -> None:
    left = {defect.name: defect for defect in DEFECTS}
    for judge in ("our rules", "cloudformation-validate", "cfn-lint"):
        left = {name: defect for name, defect in left.items() if not is_caught(defect, judge)}

    assert sorted(left) == sorted(MISSED)


def test_the_page_lists_the_findings_of_our_rules() -> None:
    page = (ROOT / "docs/evidence/defects.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (schema|hpc|security|state) \| (\d+) \| (\d+) \|", page, re.MULTILINE)
    seeded = Counter(defect.subject for defect in DEFECTS)
    found = Counter(defect.subject for defect in DEFECTS if is_caught(defect, "our rules"))

    assert {subject: (int(all_), int(ours)) for subject, all_, ours in rows} == {
        subject: (seeded[subject], found[subject]) for subject in seeded
    }


def _findings(path: Path) -> list[Finding]:
    kept = read_kept(path.read_text(encoding="utf-8"))
    sources = [Source(name=each.name, body=each.template, region=each.region or None) for each in kept]
    return list(check_templates(sources).findings)


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.stem)
def test_our_own_configurations_break_nothing(path: Path) -> None:
    found = [str(finding) for finding in _findings(path)]

    assert found == [] or path.name == DISPOSABLE


def test_data_that_goes_with_its_stack_is_reported_also_where_a_user_asked_for_it() -> None:
    (path,) = (path for path in KEPT if path.name == DISPOSABLE)

    assert {finding.code for finding in _findings(path)} == {"UC5201"}
