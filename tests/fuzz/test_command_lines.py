"""No command line, path, pipe, environment or missing library leads to a traceback, an exit code 1 or an escape character."""

from pathlib import Path

import pytest
from tests.fuzz.command_lines import Outcome, command_lines, problem_of, run

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


def test_a_seed_draws_the_same_command_lines() -> None:
    first, second, other = (command_lines(seed, 100) for seed in (1, 1, 2))

    assert first == second != other
    assert len({line.arguments for line in first}) > 80


@pytest.mark.parametrize(
    ("code", "out", "err"),
    [
        (1, "", ""),
        (-9, "", ""),
        (120, "", ""),
        (2, "", "Traceback (most recent call last):\nKeyError: 'jobs'"),
        (0, "\x1b[31m", ""),
        (2, "", "UC9009: \x9b31m."),
        (4, "", "UC9015: a bug in ultracluster: KeyError: 'jobs' (describe.py:1)."),
    ],
)
def test_other_ends_are_problems(code: int, out: str, err: str) -> None:
    assert problem_of(Outcome(code=code, out=out, err=err, seconds=0, mib=0))


def test_exit_code_1_belongs_to_a_prompt_that_nobody_answers() -> None:
    declined = Outcome(code=1, out="", err="", seconds=0, mib=0)

    assert problem_of(declined)
    assert problem_of(declined, stream="closed stdout")
    assert problem_of(declined, stream="closed stderr") == ""
    assert problem_of(Outcome(code=1, out="", err="Go on? [y/N]: ", seconds=0, mib=0)) == ""
