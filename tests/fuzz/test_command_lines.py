"""No command line, path, pipe, environment or missing library leads to a traceback, an exit code 1 or an escape character."""

from pathlib import Path

import pytest
from tests.fuzz.command_lines import run

pytestmark = pytest.mark.slow

SEED = 21


@pytest.mark.parametrize("count", [30, pytest.param(500, marks=pytest.mark.deep)])
def test_hostile_command_lines_end_with_a_code_and_lines(
    count: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    failures, figures = run(SEED, count, tmp_path)
    with capsys.disabled():
        print(f"\n{figures}")  # noqa: T201 - the seed, the worst time and the worst memory

    assert [f"{problem}: {line}" for line, _, problem in failures] == []
