"""The bench runs each of its commands, and writes its table and nothing else of the page."""

import subprocess
import sys
from pathlib import Path

import pytest
from bench import MARKS, PAGE, Workshop, report, rows, write
from measure import Cost


@pytest.mark.deep  # continuous integration runs `make bench QUICK=1`
@pytest.mark.slow
def test_the_quick_form_runs_the_command_of_every_row_and_writes_no_figure(tmp_path: Path) -> None:
    before = PAGE.read_text(encoding="utf-8")

    done = subprocess.run(
        [sys.executable, PAGE.parents[2] / "benchmarks/bench.py", "--quick", "--folder", tmp_path / "bench"],
        text=True,
        capture_output=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    every = [row.what for row in rows(Workshop(tmp_path / "names", clusters=3), {})]
    assert len(every) == 17
    assert [what for what in every if f"| {what} |" not in done.stdout] == []
    assert "| AWS ParallelCluster: not installed; only `make bench` does that |" in done.stdout
    assert PAGE.read_text(encoding="utf-8") == before
    assert not (tmp_path / "bench/project/.ultracluster/local/state.json").exists()


def test_figures_are_medians_and_processor_seconds_are_compared_with_hello_world() -> None:
    hello = [Cost(wall=seconds, cpu=2 * seconds) for seconds in (1, 9, 2)]
    ours = [Cost(wall=5, cpu=seconds) for seconds in (6, 7, 8)]

    text = report({"hello": hello, "ours": ours}, on="a machine", missing="no network")

    assert "a machine" in text.splitlines()[0]
    assert "the median of 3 runs." in text.splitlines()[0]
    assert text.splitlines()[-3:] == [
        "| hello | 2.00 | 4.00 | 1.00 |",
        "| ours | 5.00 | 7.00 | 1.75 |",
        "| AWS ParallelCluster: no network | | | |",
    ]


def test_only_what_is_between_the_marks_is_written() -> None:
    page = f"before\n{MARKS[0]}\nold\n{MARKS[1]}\nafter\n"

    assert write(page, "new") == f"before\n{MARKS[0]}\n\nnew\n\n{MARKS[1]}\nafter\n"
    assert [PAGE.read_text(encoding="utf-8").count(mark) for mark in MARKS] == [1, 1]
