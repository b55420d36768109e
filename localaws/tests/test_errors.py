"""Errors of the local AWS as users read them."""

import pytest

from ultracluster_local.errors import LocalAwsError, no_answer, quote


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (LocalAwsError("UC8003", "the port is in use"), "UC8003: the port is in use."),
        (
            LocalAwsError(
                "UC8003", "The port 99999 is invalid.", allowed="1 to 65535", remedy="Choose another."
            ),
            "UC8003: The port 99999 is invalid. Allowed: 1 to 65535. Choose another.",
        ),
        (no_answer("Nothing answers.", remedy="Start it"), "UC8006: Nothing answers. Start it."),
    ],
)
def test_an_error_is_its_code_and_sentences_that_end_in_one_period(error: LocalAwsError, text: str) -> None:
    assert str(error) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [("a\n\x1b[31m", r"'a\n\x1b[31m'"), ("ä", r"'\xe4'"), (7, "7"), ("x" * 74, f"'{'x' * 74}'")],
)
def test_a_value_is_quoted_in_ascii_without_control_characters(value: object, text: str) -> None:
    assert quote(value) == text


def test_a_long_value_is_cut_to_seventy_six_characters() -> None:
    text = quote("x" * 75)

    assert len(text) == 76
    assert text.endswith("...")
