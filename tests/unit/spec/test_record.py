"""The record of each rule is complete, in whole sentences, and nothing dangerous can be switched off."""

import re

from tests.rule_examples import EXAMPLES

from ultracluster_cli.records import ALL_RECORDS
from ultracluster_spec.findings import Finding, Severity
from ultracluster_spec.record import by_code, is_error

EXECUTED = {code: example for examples in EXAMPLES.values() for code, example in examples.items()}


def test_records_are_in_the_order_of_their_codes() -> None:
    assert list(ALL_RECORDS) == sorted(ALL_RECORDS)
    assert len(ALL_RECORDS) > 400
    assert by_code([ALL_RECORDS["UC4105"]], [ALL_RECORDS["UC4001"]]) == {
        "UC4001": ALL_RECORDS["UC4001"],
        "UC4105": ALL_RECORDS["UC4105"],
    }


def test_a_record_is_complete() -> None:
    said = {
        "a code of a known subject": lambda record: re.fullmatch(r"UC[1-9]\d{3}", record.code),
        "a summary of one sentence": lambda record: re.fullmatch(r".*\.", record.summary),
        "a severity": lambda record: record.severity in Severity,
        "an example of one line": lambda record: "\n" not in record.example,
        "a remedy in sentences": lambda record: re.search(r"[.\"]$", record.remedy),
        "a remedy that helps and is short": lambda record: 20 <= len(record.remedy) <= 300,
        "a source": lambda record: re.search(r"[.)]$", record.source),
    }

    assert [
        (code, what)
        for code, record in ALL_RECORDS.items()
        for what, holds in said.items()
        if not holds(record)
    ] == []


def test_an_example_that_is_shown_is_executed_beside_one_that_breaks_the_rule() -> None:
    assert {code for code, record in ALL_RECORDS.items() if record.example} <= EXECUTED.keys()
    assert [code for code, each in EXECUTED.items() if each.fails.strip() == each.passes.strip()] == []


def test_no_source_claims_that_it_was_read_for_its_record() -> None:
    # The facts that were read have their dates in the catalogue; a record names where one would look.
    assert {
        code: record.source
        for code, record in ALL_RECORDS.items()
        if re.search(r"\bread\b.*20\d\d", record.source)
    } == {}


def test_only_warnings_of_a_rollout_file_can_be_suppressed() -> None:
    suppressible = {code for code, record in ALL_RECORDS.items() if record.suppressible}

    assert suppressible
    assert {code for code in suppressible if ALL_RECORDS[code].severity != "warning"} == set()
    assert suppressible <= EXAMPLES["rollout"].keys()


def test_a_warning_about_money_cannot_be_suppressed() -> None:
    # An end that is too late drains the queue after the paid nodes are gone.
    assert not ALL_RECORDS["UC4113"].suppressible


def test_a_finding_is_an_error_unless_its_record_says_something_else() -> None:
    assert is_error(Finding("UC4001", "p"), ALL_RECORDS)
    assert not is_error(Finding("UC4016", "p"), ALL_RECORDS)
    assert is_error(Finding("UC4016", "p"), {})
