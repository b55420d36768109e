"""Scalars without quotes."""

import math

import pytest

from ultracluster_spec.findings import Located
from ultracluster_stacks.config.reading.scalars import LARGEST_NUMBER, read_plain_scalar


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("~", None),
        ("null", None),
        ("true", True),
        ("false", False),
        ("0", 0),
        ("-3", -3),
        ("16", 16),
        ("3.5", 3.5),
        (str(LARGEST_NUMBER - 1), LARGEST_NUMBER - 1),
        ("2026-12-01", "2026-12-01"),
        ("2026-12-01T11:30:00Z", "2026-12-01T11:30:00Z"),
        ("10.0.0.0/16", "10.0.0.0/16"),
        ("trn2.48xlarge", "trn2.48xlarge"),
        ("1.2.3", "1.2.3"),
        ("4c", "4c"),
        ("-", "-"),
        (".", "."),
        ("e5", "e5"),
        ("nan", "nan"),
        ("north", "north"),
        ("use2-az3", "use2-az3"),
        ("12:3456", "12:3456"),
    ],
)
def test_reads_what_can_mean_one_thing_only(text: str, value: object) -> None:
    got = read_plain_scalar(text, ())

    assert got == value
    assert type(got) is type(value)


@pytest.mark.parametrize(
    ("code", "texts"),
    [
        (
            "UC1013",
            ["010", "-07", "1_6", "0x10", "0o7", "0b1", "+5", "1e5", "1.5e-3", ".5", "5.", "012345678901"],
        ),
        (
            "UC1014",
            [".nan", ".NaN", ".inf", "-.inf", "+.INF", str(LARGEST_NUMBER), str(-LARGEST_NUMBER), "9" * 5000],
        ),
        ("UC1014", ["0." + "1" * 18, str(10**17)]),
        ("UC1015", ["no", "No", "NO", "yes", "on", "off", "y", "N", "True", "FALSE", "Null", "NULL"]),
        ("UC1016", ["12:30", "12:30:00", "1:2:3", "190:20:30.15", "-1:30"]),
    ],
)
def test_refuses_what_two_readers_would_take_differently(code: str, texts: list[str]) -> None:
    for text in texts:
        problem = read_plain_scalar(text, ("a",))
        assert isinstance(problem, Located), text
        assert (problem.finding.code, problem.place) == (code, ("a",)), text


def test_says_how_to_write_what_it_refuses() -> None:
    def remedy(text: str) -> str:
        problem = read_plain_scalar(text, ())
        assert isinstance(problem, Located)
        return problem.finding.remedy

    assert '"012345678901"' in remedy("012345678901")
    assert '"no"' in remedy("no")
    assert remedy("12:30:00") == "Write it in quotes"


def test_never_returns_a_number_that_json_would_change() -> None:
    for text in ("9007199254740991", "-9007199254740991", "0.1", "123456.789"):
        value = read_plain_scalar(text, ())
        assert isinstance(value, (int, float))
        assert math.isfinite(value)
        assert abs(value) < 2**53


def test_reads_the_longest_texts_at_once() -> None:
    for text in (
        "1" * 250_000,
        "1_" * 125_000 + "x",
        "1." + "2" * 250_000 + "x",
        ":1" * 125_000,
        "-" * 250_000,
    ):
        read_plain_scalar(text, ())  # a pattern that backtracks would take hours
