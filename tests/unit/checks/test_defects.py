"""Seeded defects that our rules find, and our own configurations, in which they find nothing."""

import functools
from collections import Counter
from pathlib import Path

import pytest
from tests.golden.kept import read_kept
from tests.unit.checks.defects import DEFECTS, with_defect

from ultracluster_checks import Source, check_templates
from ultracluster_rules.findings import Finding
from ultracluster_stacks.check import read_templates

ROOT = Path(__file__).parents[3]
KEPT = sorted((ROOT / "tests/golden/next").glob("*.json"))
REGION = "us-east-2"

DISPOSABLE = "disposable.yaml.json"  # removal_policy: destroy


@functools.cache
def good_templates(base: str) -> tuple[tuple[Source, ...], int]:
    """The templates that a defect is seeded into, looked at together, and the number of the one that it is in."""
    configuration, _, stack = base.partition("/")
    if not stack:
        return tuple(read_templates([Path(__file__).parent / "foreign" / f"{base}.yaml"], region=REGION)), 0
    kept = read_kept((ROOT / f"tests/golden/next/{configuration}.yaml.json").read_text(encoding="utf-8"))
    sources = tuple(Source(name=each.name, body=each.template, region=each.region) for each in kept)
    return sources, next(number for number, each in enumerate(sources) if each.name.endswith(stack))


def test_our_rules_find_every_defect() -> None:
    missed = []
    for defect in DEFECTS:
        templates, number = good_templates(defect.base)
        body = with_defect(dict(templates[number].body), defect)
        bad = [
            *templates[:number],
            Source(name=templates[number].name, body=body, region=REGION),
            *templates[number + 1 :],
        ]
        before, after = (
            Counter((each.code, f"{each.location} {each.path}") for each in check_templates(some).findings)
            for some in (templates, bad)
        )
        missed += [] if after - before else [defect.name]

    assert missed == []
    assert len({defect.name for defect in DEFECTS}) == len(DEFECTS) > 100


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
