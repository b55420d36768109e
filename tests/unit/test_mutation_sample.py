"""What `make mutation` changes, and the tests that it knows."""

import re
from pathlib import Path

import pytest
from tests.mutation.sample import PARTS, places

ROOT = Path(__file__).parents[2]
MODULE = '''
LIMIT = 1


@cache(size=2)
def sizes(first: int = 3) -> "list[int]":
    """Text."""
    problem = "words"
    if first > 4 and not LIMIT:
        raise ValueError("words")
    return [
        5,
        True,
    ]
'''


@pytest.mark.parametrize("name", PARTS)
def test_each_part_has_modules_and_tests(name: str) -> None:
    assert [path for paths in PARTS[name] for path in paths if not (ROOT / path).exists()] == []


def test_the_nightly_workflow_names_parts() -> None:
    named = re.search(
        r'make mutation PART="(.+)" COUNT', (ROOT / ".github/workflows/nightly.yaml").read_text()
    )

    assert named
    assert set(named[1].split()) <= set(PARTS)


def test_a_place_has_the_lines_of_its_statement_and_what_it_becomes(tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text(MODULE)

    found = [(place.lines, place.before, place.after) for place in places(tmp_path / "module.py")]

    condition, returned = range(9, 10), range(11, 15)
    assert sorted(found, key=lambda each: (each[0].start, each[1])) == [
        (condition, "4", "5"),
        (condition, "first > 4", "first >= 4"),
        (condition, "first > 4 and (not LIMIT)", "first > 4 or not LIMIT"),
        (condition, "not LIMIT", "LIMIT"),
        (returned, "5", "6"),
        (returned, "True", "False"),
        (returned, "[5, True]", "None"),
    ]
