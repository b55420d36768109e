"""A plan as text, Markdown and JSON, and its cost as a difference at list prices."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.unit.cli.conftest import Run
from tests.unit.cli.plan.fake_project import (
    CHANGED,
    TEMPLATE,
    edited,
    write_assembly,
)

from ultracluster_cli.main import main

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


def test_a_terminal_gets_a_plan_wrapped_at_words_and_a_file_gets_one_line_each(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_assembly(project / "new", edited("FileSystemTypeVersion", "2.12"))
    assert main(["plan", "--against", "old"]) == 3
    whole = capsys.readouterr().out
    monkeypatch.setattr(type(sys.stdout), "isatty", lambda _: True)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "dumb")

    assert main(["plan", "--against", "old"]) == 3
    shown = capsys.readouterr().out

    assert max(map(len, whole.splitlines())) > 80
    assert max(map(len, shown.splitlines())) <= 80
    assert shown.split() == whole.split()


def test_shows_the_usage_of_the_fullest_stack(run: Run, project: Path) -> None:
    write_assembly(project / "new", TEMPLATE)

    text = run("plan", "--against", "old").stdout
    told = json.loads(run("plan", "--against", "old", "--json").stdout)

    assert text.splitlines()[-1].startswith(
        "Fullest stacks: 2 of 500 resources in a-Storage; 0 of 200 outputs"
    )
    size = (project / "new" / "assembly-a" / "t.json").stat().st_size
    assert told["headroom"][2] == {"what": "bytes", "stack": "a-Storage", "count": size, "most": 1_000_000}


def test_shows_the_cost_difference_and_the_capacity_window(run: Run, project: Path) -> None:
    write_assembly(project / "new", edited("StorageCapacity", 9600))
    rollout = project / "rollout.yaml"
    said = run("plan", "--against", "old").stdout
    assert "a-us-east-2: capacity unknown; list prices: unknown (file system) USD" in said

    window = '          start: "2026-12-01T11:30:00Z"\n          end: "2026-12-15T11:30:00Z"\n        notify:'
    rollout.write_text(rollout.read_text().replace("        notify:", window, 1))
    for manifest in project.glob("*/manifest.json"):
        manifest.write_text(manifest.read_text().replace("a-us-east-2", "quickstart-us-east-2"))
    outcome = run("plan", "--against", "old", "--json")
    assert outcome.code == 0, outcome.stderr
    (told,) = json.loads(outcome.stdout)["clusters"]
    shown = run("plan", "--against", "old", "--markdown").stdout

    assert (told["name"], told["start"], told["end"]) == (
        "quickstart-us-east-2",
        "2026-12-01T11:30:00+00:00",
        "2026-12-15T11:30:00+00:00",
    )
    assert told["idle_month"] == {
        "low": None,
        "high": None,
        "without": ["file system"],
        "approximate": False,
    }
    assert "- quickstart-us-east-2: capacity 2026-12-01 11:30 UTC to 2026-12-15 11:30 UTC" in shown


def test_shows_what_goes_what_follows_what_is_too_long_and_a_wider_permission(
    run: Run, project: Path
) -> None:
    def template(content: str, action: str, **topic: str) -> dict[str, Any]:
        statement = {"Effect": "Allow", "Action": action, "Resource": "*"}
        policy = {"PolicyDocument": {"Statement": [statement]}, "Roles": ["r"], "PolicyName": "p"}
        job = {"ContainerProperties": {"Image": "a/b:1", "Environment": [{"Name": "A", "Value": content}]}}
        filters = {"FilterPattern": {"Ref": "Topic"}, "LogGroupName": "g"}
        return {
            "Resources": {
                "Topic": {"Type": "AWS::SNS::Topic", "Properties": topic},
                "Filter": {"Type": "AWS::Logs::MetricFilter", "Properties": filters},
                "Policy": {"Type": "AWS::IAM::Policy", "Properties": policy},
                "Job": {"Type": "AWS::Batch::JobDefinition", "Properties": job},
            }
        }

    write_assembly(project / "before", template("x", "s3:GetObject", DisplayName="d"))
    write_assembly(project / "new", template("y" * 500, "s3:*", TopicName="t"))

    said = run("plan", "--against", "before").stdout

    assert "DisplayName: d -> (none)" in said
    assert "FilterPattern follows Topic" in said
    assert "PERMISSION" in said
    assert "yyy...\n" in said
    assert "y" * 500 not in said
