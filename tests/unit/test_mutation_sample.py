"""The modules and tests that `make mutation` knows."""

import re
from pathlib import Path

import pytest
from tests.mutation.sample import PARTS

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", PARTS)
def test_each_part_has_modules_and_tests(name: str) -> None:
    assert [path for paths in PARTS[name] for path in paths if not (ROOT / path).exists()] == []


def test_the_nightly_workflow_names_parts() -> None:
    named = re.search(
        r'make mutation PART="(.+)" COUNT', (ROOT / ".github/workflows/nightly.yaml").read_text()
    )

    assert named
    assert set(named[1].split()) <= set(PARTS)
