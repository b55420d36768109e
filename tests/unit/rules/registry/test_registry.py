"""The record of each rule is complete, in whole sentences, and nothing dangerous can be switched off."""

import re

import pytest

from ultracluster_rules.registry import RULES, Rule, rule_sections


def test_rules_are_in_the_order_of_their_codes() -> None:
    assert list(RULES) == sorted(RULES)
    assert len(RULES) > 400


def test_a_file_holds_the_codes_that_begin_like_its_name() -> None:
    codes = [(section.prefix, code) for section in rule_sections() for code in section.rules]

    assert [code for prefix, code in codes if not re.fullmatch(rf"{prefix}\d\d", code)] == []


def test_a_record_is_complete() -> None:
    said = {
        "two examples": lambda rule: rule.fails.strip() != rule.passes.strip(),
        "a remedy in sentences": lambda rule: re.search(r"[.\"]$", rule.remedy),
        "a remedy that helps and is short": lambda rule: 20 <= len(rule.remedy) <= 300,
        "a source": lambda rule: re.search(r"[.)]$", rule.source),
        "the test of a situation in words": lambda rule: bool(rule.shown_by) == (rule.kind == "command"),
    }

    assert [
        (code, what) for code, rule in RULES.items() for what, holds in said.items() if not holds(rule)
    ] == []


def test_no_source_claims_that_it_was_read_for_its_record() -> None:
    # The facts that were read have their dates in the catalogue; a record names where one would look.
    assert {
        code: rule.source for code, rule in RULES.items() if re.search(r"\bread\b.*20\d\d", rule.source)
    } == {}


def test_only_warnings_of_a_rollout_file_can_be_suppressed() -> None:
    suppressible = {code for code, rule in RULES.items() if rule.suppressible}

    assert suppressible
    assert {code for code in suppressible if RULES[code].severity != "warning"} == set()
    assert {code for code in suppressible if RULES[code].kind != "rollout"} == set()


def test_a_warning_about_money_cannot_be_suppressed() -> None:
    # An end that is too late drains the queue after the paid nodes are gone.
    assert not RULES["UC4113"].suppressible


def test_one_rule_is_found_without_the_others() -> None:
    assert isinstance(RULES["UC4105"], Rule)
    with pytest.raises(KeyError):
        RULES["UC4999"]
    with pytest.raises(KeyError):
        RULES["UC9999"]
