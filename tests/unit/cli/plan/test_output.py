"""A plan as text, Markdown and JSON."""

import json
from pathlib import Path

import pytest
from tests.unit.cli.plan.fake_project import (
    CHANGED,
    TEMPLATE,
    Run,
    edited,
    write_assembly,
)

pytestmark = pytest.mark.slow


def test_json_holds_everything(run: Run, project: Path) -> None:
    write_assembly(project / "new", edited("FileSystemTypeVersion", "2.12"))

    outcome = run("plan", "--against", "old", "--json", "--allow", CHANGED)

    told = json.loads(outcome.stdout)
    assert (outcome.code, told["stopped"], told["allowed"], told["against"]) == (0, False, [CHANGED], "old")
    (stack,) = told["stacks"]
    assert (stack["cluster"], stack["name"], stack["state"]) == ("a-us-east-2", "a-Storage", "changed")
    (change,) = stack["changes"]
    assert change["action"] == "update in place"
    assert change["properties"] == [
        {"path": "FileSystemTypeVersion", "before": "2.15", "after": "2.12", "replaces": False, "cause": ""}
    ]
    assert [(stop["kind"], stop["allow"]) for stop in change["stops"]] == [("data", CHANGED)]


def test_markdown_escapes_text_of_templates(run: Run, project: Path) -> None:
    write_assembly(project / "new", edited("FileSystemTypeVersion", "`|</details>"))

    outcome = run("plan", "--against", "old", "--markdown")

    assert outcome.code == 3
    assert outcome.stdout.startswith("### Stopped, 1 reason: ")
    assert f"`--allow {CHANGED}`" in outcome.stdout
    assert "`FileSystemTypeVersion: 2.15 -> '\\|</details>`" in outcome.stdout


def test_shows_the_usage_of_the_fullest_stack(run: Run, project: Path) -> None:
    write_assembly(project / "new", TEMPLATE)

    text = run("plan", "--against", "old").stdout
    told = json.loads(run("plan", "--against", "old", "--json").stdout)

    assert text.splitlines()[-1].startswith(
        "Fullest stacks: 2 of 500 resources in a-Storage; 0 of 200 outputs"
    )
    size = (project / "new" / "assembly-a" / "t.json").stat().st_size
    assert told["headroom"][2] == {"what": "bytes", "stack": "a-Storage", "count": size, "most": 1_000_000}
