"""Tables keep all text, without interpreting markup."""

import json

import pytest

from ultracluster_cli.output import print_json, print_table


def test_a_table_shows_every_cell(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(
        columns=["name", "nodes_used"], rows=[{"name": "a", "nodes_used": 1234}, {"name": "b"}], title="T"
    )

    shown = capsys.readouterr().out
    assert shown.startswith("T")
    assert "nodes used" in shown
    assert "1,234" in shown


def test_a_long_id_is_not_broken_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(columns=["id", "other"], rows=[{"id": "x" * 120, "other": "y"}])

    assert "x" * 120 in capsys.readouterr().out


def test_brackets_in_a_value_are_shown_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(columns=["value"], rows=[{"value": "[bold]x[/bold]"}])

    assert "[bold]x[/bold]" in capsys.readouterr().out


def test_json_is_one_document(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"a": [1, None, True]})

    assert json.loads(capsys.readouterr().out) == {"a": [1, None, True]}
