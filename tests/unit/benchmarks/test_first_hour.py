"""The timing of `make demo` reads its parts, and writes its table and nothing else of the page."""

from pathlib import Path

from first_hour import BOUNDS, MARKS, PAGE, Run, parts_of, table, write

OUTPUT = """\
Python 3.11.7 (python3)
Installing the pinned Python packages (1.3 GB on disk) ... 9 s
Installing ultracluster ... uv cannot install them, so pip does: no cache ... 4 s
Deployed in 12.5 s.
Took 20.2 s: starting the local AWS 2.4, capacity buy, again 2.7, cdk synth 7.3.
Next: nothing.
"""


def test_the_parts_are_those_of_make_and_of_the_demo() -> None:
    assert parts_of(OUTPUT) == {
        "Installing the pinned Python packages (1.3 GB on disk)": 9.0,
        "Installing ultracluster": 4.0,
        "starting the local AWS": 2.4,
        "capacity buy, again": 2.7,
        "cdk synth": 7.3,
    }


def test_the_table_has_a_line_for_each_part_of_each_run() -> None:
    cold = Run(seconds=50.04, processor=40.0, parts={"packages": 9.0, "cdk synth": 8.0})
    warm = Run(seconds=30.0, processor=20.0, parts={"cdk synth": 8.5})

    assert table({"cold": cold, "warm": warm}).splitlines() == [
        "| part | cold, s | warm, s |",
        "| --- | --- | --- |",
        "| packages | 9.0 | 0.0 |",
        "| cdk synth | 8.0 | 8.5 |",
        "| **total** | **50.0** | **30.0** |",
        f"| bound | {BOUNDS['cold']:.0f} | {BOUNDS['warm']:.0f} |",
        "| processor seconds | 40.0 | 20.0 |",
    ]


def test_only_what_is_between_the_marks_is_written() -> None:
    page = f"before\n{MARKS[0]}\nold\n{MARKS[1]}\nafter\n"

    assert write(page, "new") == f"before\n{MARKS[0]}\n\nnew\n\n{MARKS[1]}\nafter\n"


def test_the_page_has_the_marks() -> None:
    text = Path(PAGE).read_text(encoding="utf-8")

    assert [text.count(mark) for mark in MARKS] == [1, 1]
