"""Each part of `make mutation` has modules and tests."""

from pathlib import Path

import pytest
from tests.mutation.parts import PARTS
from tests.mutation.row import Row

ROOT = Path(__file__).parents[2]


def test_the_command_takes_a_part() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")

    assert "tests/mutation/mutate.py $(PART)" in makefile


@pytest.mark.parametrize("name", PARTS)
def test_each_pattern_of_a_part_finds_modules_and_tests(name: str) -> None:
    part = PARTS[name]

    assert [pattern for pattern in part.files if not [*ROOT.glob(pattern)]] == []
    assert [path for path in (*part.tests, *part.slow_tests) if not (ROOT / path).exists()] == []


def test_no_module_is_in_two_parts() -> None:
    found = [path for part in PARTS.values() for pattern in part.files for path in ROOT.glob(pattern)]

    assert len(found) == len(set(found))


def test_what_survived_counts_against_the_score_and_what_is_equal_does_not() -> None:
    row = Row(
        part="plan", date="2026-11-21", made=8000, tried=1000, killed=840, timed_out=5, survived=145, equal=10
    )

    assert row.score == 85.3  # 845 of 990, rounded down
    assert str(row).startswith("| plan | 2026-11-21 | 8000 | 1000 | 840 |")
