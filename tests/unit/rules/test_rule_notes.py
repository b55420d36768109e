"""What is said about each rule: complete, in whole sentences, and nothing dangerous can be switched off."""

import re

import pytest

from ultracluster_rules.rule_notes import RuleNote, all_rule_notes, rule_note
from ultracluster_rules.rules import RULES

NOTES = all_rule_notes()


def test_every_rule_has_a_note_and_every_note_a_rule() -> None:
    assert list(NOTES) == sorted(RULES)


def test_a_note_says_everything() -> None:
    said = {
        "two examples": lambda note: note.fails.strip() != note.passes.strip(),
        "a remedy in sentences": lambda note: re.search(r"[.\"]$", note.remedy),
        "a remedy that helps and is short": lambda note: 20 <= len(note.remedy) <= 300,
        "a source": lambda note: re.search(r"[.)]$", note.source),
        "the test of a situation in words": lambda note: bool(note.shown_by) == (note.kind == "command"),
    }

    assert [
        (code, what) for code, note in NOTES.items() for what, holds in said.items() if not holds(note)
    ] == []


def test_no_source_claims_that_it_was_read_for_its_note() -> None:
    # The facts that were read have their dates in the catalogue; a note names where one would look.
    assert {
        code: note.source for code, note in NOTES.items() if re.search(r"\bread\b.*20\d\d", note.source)
    } == {}


def test_only_warnings_of_a_rollout_file_can_be_suppressed() -> None:
    suppressible = {code for code, note in NOTES.items() if note.suppressible}

    assert suppressible
    assert {code for code in suppressible if RULES[code].severity != "warning"} == set()
    assert {code for code in suppressible if NOTES[code].kind != "rollout"} == set()


def test_a_warning_about_money_cannot_be_suppressed() -> None:
    # An end that is too late drains the queue after the paid nodes are gone.
    assert not rule_note("UC4113").suppressible


def test_one_note_is_found_without_the_others() -> None:
    assert isinstance(rule_note("UC4105"), RuleNote)
    with pytest.raises(KeyError):
        rule_note("UC4999")
    with pytest.raises(KeyError):
        rule_note("UC9999")
