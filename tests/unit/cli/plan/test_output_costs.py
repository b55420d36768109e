"""The cost of a plan is the difference at list prices."""

import json
from pathlib import Path

import pytest
from tests.unit.cli.plan.fake_project import (
    Run,
    edited,
    write_assembly,
)

pytestmark = pytest.mark.slow


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
