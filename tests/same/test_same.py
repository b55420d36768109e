"""The comparison names what differs, and with which lines."""

import hashlib

from tests.same.__main__ import differences


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def test_names_what_is_new_gone_and_changed() -> None:
    accepted = {"same": _hash("a"), "gone": _hash("b"), "changed": _hash("c\nd")}
    now = {"same": "a", "new": "b", "changed": "c\ne"}

    found = differences(
        accepted, {name: _hash(text) for name, text in now.items()}, before={"changed": "c\nd"}, now=now
    )

    assert found == ["changed: changed", "    -d", "    +e", "gone: gone", "new: new"]


def test_shows_no_lines_of_a_text_that_is_not_the_accepted_one() -> None:
    found = differences({"a": _hash("old")}, {"a": _hash("new")}, before={"a": "older"}, now={"a": "new"})

    assert found == ["changed: a"]
