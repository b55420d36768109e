"""Our own configurations, in which the rules find nothing."""

from pathlib import Path

import pytest
from tests.golden.kept import read_kept

from ultracluster_checks import Source, check_templates
from ultracluster_spec.findings import Finding

ROOT = Path(__file__).parents[3]
KEPT = sorted((ROOT / "tests/golden/next").glob("*.json"))

DISPOSABLE = "disposable.yaml.json"  # removal_policy: destroy


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
