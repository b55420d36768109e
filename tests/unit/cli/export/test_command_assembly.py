"""Templates and assets are written into an empty folder."""

import json
from pathlib import Path

import pytest
from tests.unit.cli.export.fake_synthesis import Run

pytestmark = pytest.mark.slow


def test_refuses_a_folder_that_holds_something(project: Path, run: Run) -> None:
    (project / "full").mkdir()
    (project / "full" / "file").touch()
    (project / "empty").mkdir()

    full, empty = run("export", "--output", "full"), run("export", "--output", "empty")

    assert (full.code, empty.code) == (2, 0)
    assert "exists and is not empty" in full.stderr


def test_a_large_template_must_be_passed_as_a_url(project: Path, run: Run) -> None:
    filled = json.dumps({"Resources": {"A": {"Type": "A::B::C", "Properties": {"P": "x" * 51_200}}}})
    (project / "template.json").write_text(filled)

    outcome = run("export", "--output", "out", "--json")

    assert json.loads(outcome.stdout)["templates"][0]["pass_as"] == "URL"
