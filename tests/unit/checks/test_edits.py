"""Every rule, by edits of good templates: those that break it, and those near to them that do not."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.unit.checks import edits, test_costs, test_settings, test_used_together, whole_cluster

from ultracluster_checks import Source
from ultracluster_checks.table import template_codes


def _name(part: str, row: dict[str, Any]) -> str:
    return f"{part}: {row.get('why') or row['edits']}"


ROWS: dict[str, list[dict[str, Any]]] = yaml.safe_load(
    Path(__file__).with_name("edits.yaml").read_text("utf-8")
)
BROKEN = [
    pytest.param(row, id=_name(part, row)) for part, rows in ROWS.items() for row in rows if "breaks" in row
]
KEPT = [
    pytest.param(row, id=_name(part, row))
    for part, rows in ROWS.items()
    for row in rows
    if "breaks" not in row
]
# Too long for a row.
BROKEN_BY_LENGTH = {"UC4209"}


def _codes(foreign: dict[str, Source], row: dict[str, Any]) -> list[str]:
    if row["on"] in foreign:
        return edits.codes_after(foreign, row["on"], row["edits"])
    return whole_cluster.codes_after(row["on"], row["edits"])


@pytest.mark.parametrize("row", BROKEN)
def test_an_edit_breaks_its_rule(foreign: dict[str, Source], row: dict[str, Any]) -> None:
    codes = _codes(foreign, row)

    assert codes == row["breaks"] if isinstance(row["breaks"], list) else row["breaks"] in codes


@pytest.mark.parametrize("row", KEPT)
def test_an_edit_near_to_it_breaks_none(foreign: dict[str, Source], row: dict[str, Any]) -> None:
    codes = _codes(foreign, row)

    assert row["keeps"] not in codes if "keeps" in row else codes == []


def test_what_is_too_long_breaks_its_rule(foreign: dict[str, Source]) -> None:
    text = {"Fn::Base64": "MIME-Version: 1.0\n" + "#" * 20_480}

    assert "UC4209" in edits.codes_after(foreign, "batch-efa", {f"{edits.LT}/UserData": text})


def test_every_rule_is_broken_by_some_row() -> None:
    breaks = [row["breaks"] for rows in ROWS.values() for row in rows if "breaks" in row]
    listed = {code for codes in breaks for code in ([codes] if isinstance(codes, str) else codes)}
    for table in (test_costs.BROKEN, test_settings.BROKEN, test_used_together.BROKEN):
        listed |= {row[0] for row in table}

    assert listed | BROKEN_BY_LENGTH == template_codes()
