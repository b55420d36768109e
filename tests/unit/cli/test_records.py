"""The records of all rules."""

import re

from tests.unit.cli.conftest import Run

from ultracluster_cli.records import ALL_RECORDS, selected_records


def test_records_are_found_once_each_by_codes_in_any_case() -> None:
    assert selected_records(["uc9401", " UC4105", "UC9401"]) == [ALL_RECORDS["UC9401"], ALL_RECORDS["UC4105"]]


def test_an_unknown_code_is_a_finding_with_a_suggestion(run: Run) -> None:
    outcome = run("docs", "UC4105", "UC410", "UC99999999")

    assert (outcome.code, outcome.stdout) == (2, "")
    first, second = outcome.stderr.splitlines()
    assert first.startswith(
        "error: got 'UC410'. Allowed: a code listed by `ultracluster docs rules`, such as UC4105."
    )
    assert re.search(r"Did you mean UC\d{4}\?$", first)
    assert second.startswith("error: got 'UC99999999'.")
    assert "Did you mean" not in second
