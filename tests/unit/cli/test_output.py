"""Tables keep all text, without interpreting markup."""

import json
import re
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from ultracluster_cli.output import echo, print_json, print_note, print_table, short_time
from ultracluster_spec.findings import Finding, quote

JOB = "5c0c5a0e-6f3b-4a5e-9d6e-0b1c2d3e4f50"


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A terminal of 80 columns."""
    del capsys
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(
        type(sys.stdout), "isatty", lambda _: True
    )  # pytest replaces the stream after this fixture


@pytest.fixture
def berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "CET-1")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9]+m", "", text)


def test_a_table_shows_every_cell(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(
        columns=["name", "nodes_used", "empty"],
        rows=[{"name": "a", "nodes_used": 1234}, {"name": "b"}],
        title="T",
    )

    shown = capsys.readouterr().out
    assert "empty" not in shown
    assert shown.startswith("T")
    assert "nodes used" in shown
    assert "1,234" in shown


def test_a_table_shows_all_keys_unless_columns_are_chosen(capsys: pytest.CaptureFixture[str]) -> None:
    print_table([{"name": "a"}, {"name": "b", "nodes": 2}])

    assert capsys.readouterr().out.splitlines()[0] == "name  nodes"


def test_a_long_id_is_not_broken_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(columns=["id", "other"], rows=[{"id": "x" * 120, "other": "y"}])

    assert "x" * 120 in capsys.readouterr().out


def test_brackets_in_a_value_are_shown_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(columns=["value"], rows=[{"value": "[bold]x[/bold]"}])

    assert "[bold]x[/bold]" in capsys.readouterr().out


ROWS = [
    {"line": "nodes", "what": " ".join(["trn2"] * 12), "price": "35.76 per hour", "per run": "≈ 1,048.00"}
]
TOTAL = {"line": "total", "per run": "48,062.52"}


@pytest.mark.usefixtures("terminal")
def test_details_move_below_their_row_where_a_terminal_is_narrow(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "28")

    print_table([*ROWS, TOTAL], details=("what", "price"))

    assert plain(capsys.readouterr().out).splitlines() == [
        "line      per run",
        "-----  ----------",
        "nodes  ≈ 1,048.00",
        "  trn2 trn2 trn2 trn2 trn2",
        "    trn2 trn2 trn2 trn2 trn2",
        "    trn2 trn2, price: 35.76",
        "    per hour",
        "total   48,062.52",
    ]


def test_details_are_columns_where_there_is_room(capsys: pytest.CaptureFixture[str]) -> None:
    print_table([*ROWS, TOTAL], details=("what", "price"))

    assert capsys.readouterr().out.splitlines()[0].split() == ["line", "what", "price", "per", "run"]


@pytest.mark.usefixtures("terminal")
def test_a_note_is_wrapped_in_a_terminal_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    print_note("never included: " + "requests " * 12)
    monkeypatch.setattr(type(sys.stdout), "isatty", lambda _: False)
    print_note("never included: " + "requests " * 12)

    assert [len(line) <= 80 for line in capsys.readouterr().out.splitlines()] == [True, True, False]


def test_json_is_one_document(capsys: pytest.CaptureFixture[str]) -> None:
    print_json(a=[1, None, True], at=datetime(2026, 11, 1, tzinfo=UTC), found=(Finding("UC2230", "x"),))

    shown = json.loads(capsys.readouterr().out)
    assert shown == {"a": [1, None, True], "at": "2026-11-01T00:00:00+00:00", "found": ["UC2230: x."]}


@pytest.mark.usefixtures("terminal")
def test_ids_and_words_stay_whole_at_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        {"job": JOB, "name": f"pretrain-{number}", "state": "RUNNABLE", "queue": "main", "nodes": 4,
         "reason": "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY - the service cannot fulfil the request"}
        for number in range(2)
    ]  # fmt: skip
    print_table(columns=list(rows[0]), rows=rows)

    shown = plain(capsys.readouterr().out)
    assert shown.count(JOB) == 2  # equal values stay in their rows
    assert all(len(line) <= 80 for line in shown.splitlines())
    for word in ("RUNNABLE", "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY", "pretrain-0", "fulfil"):
        assert word in shown


@pytest.mark.usefixtures("terminal")
def test_a_row_that_does_not_fit_becomes_a_list_of_its_cells(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(columns=["a", "b", "c", "d"], rows=[{"a": "x" * 50, "b": "y" * 50, "c": None, "d": 1}])

    assert plain(capsys.readouterr().out).splitlines() == ["x" * 50, f"  b: {'y' * 50}, d: 1"]


@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize("longer", [0, 1])
def test_a_cell_that_no_longer_fits_begins_the_next_line_of_its_row(
    longer: int, capsys: pytest.CaptureFixture[str]
) -> None:
    cells = ["  b: " + "y" * 36, "c: " + "z" * (34 + longer)]
    print_table(columns=["a", "b", "c"], rows=[{"a": "x" * 50, "b": "y" * 36, "c": "z" * (34 + longer)}])

    assert len(", ".join(cells)) == 80 + longer
    assert plain(capsys.readouterr().out).splitlines() == [
        "x" * 50,
        *([cells[0], f"  {cells[1]}"] if longer else [", ".join(cells)]),
    ]


@pytest.mark.usefixtures("terminal")
def test_names_stand_beside_their_values_where_these_fit(capsys: pytest.CaptureFixture[str]) -> None:
    values = {"nodes": "4 " + "x" * 72, "bucket": "y" * 75}
    print_table(columns=["a", "b"], rows=[{"a": name, "b": value} for name, value in values.items()])

    lines = plain(capsys.readouterr().out).splitlines()
    assert lines == ["nodes   4", " " * 8 + "x" * 72, "bucket", f"    {'y' * 75}"]


@pytest.mark.usefixtures("terminal")
def test_states_have_colours_that_no_color_switches_off(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [{"state": state} for state in ("FAIL", "WARN", "PASS", "anything")]
    print_table(columns=["state"], rows=rows)
    lines = capsys.readouterr().out.splitlines()[2:]

    assert [line.partition("m")[0] for line in lines] == ["\x1b[31", "\x1b[33", "\x1b[32", "anything"]

    monkeypatch.setenv("NO_COLOR", "1")
    print_table(columns=["state"], rows=rows)
    assert "\x1b" not in capsys.readouterr().out


@pytest.mark.usefixtures("berlin")
def test_times_are_short_and_local(capsys: pytest.CaptureFixture[str]) -> None:
    now = datetime.now(UTC)
    print_table(
        columns=["at"], rows=[{"at": f"{now.year}-07-04T22:05:01.250+00:00"}, {"at": "2019-01-02T03:04:05Z"}]
    )

    assert capsys.readouterr().out.splitlines()[2:] == ["4 Jul 23:05 CET", "2 Jan 2019 04:04 CET"]
    assert short_time(datetime(2019, 1, 2, 3, 4, tzinfo=UTC)) == "2 Jan 2019 04:04 CET"


@pytest.mark.usefixtures("terminal")
def test_a_long_message_wraps_at_words(capsys: pytest.CaptureFixture[str]) -> None:
    echo("UC2101: " + "word " * 30)

    lines = capsys.readouterr().err.splitlines()
    assert len(lines) > 1
    assert {word for line in lines for word in line.split()} == {"UC2101:", "word"}


@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize("length", range(72, 80))
def test_a_message_fits_the_terminal_whatever_it_quotes(
    capsys: pytest.CaptureFixture[str], length: int
) -> None:
    echo(f"error: no cdk.json in {quote('/' * length)}.")

    assert max(len(line) for line in capsys.readouterr().err.splitlines()) <= 80
