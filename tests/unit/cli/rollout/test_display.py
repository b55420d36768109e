"""The progress of a rollout on stderr, and its final table."""

import json
import sys
from io import StringIO

import pytest
from rich.console import Console
from tests.unit.cli.rollout.plans import planned_cluster, rollout_plan
from tests.unit.cli.rollout.rollout_simulation import CLUSTERS, Project

from ultracluster_cli.rollout.display import RolloutDisplay
from ultracluster_runtime.rollout.decide import Entry, Kind, Task
from ultracluster_runtime.rollout.plan import DEPLOY, STACKS

pytestmark = pytest.mark.slow


def test_deploys_wave_by_wave_and_reports_progress(project: Project) -> None:
    outcome = project.rollout("--json")

    assert outcome.code == 0, outcome.stderr
    assert project.deployed()[0] == "canary-us-east-1"
    assert sorted(project.deployed()) == sorted(CLUSTERS)
    told = json.loads(outcome.stdout)
    assert told["ended"] == "finished"
    assert {one["state"] for one in told["clusters"]} == {"done"}


def test_the_table_on_a_terminal_says_where_each_cluster_is_and_what_it_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = (f"{name}-us-east-2" for name in ("early", "busy", "late"))
    plan = rollout_plan(*(planned_cluster(name, steps=(DEPLOY, STACKS)) for name in names))
    entries = [
        Entry(kind=Kind.BEGUN, at="", cluster="early-us-east-2", step=DEPLOY),
        Entry(kind=Kind.FAILED, at="", cluster="early-us-east-2", step=DEPLOY, note="no [room]"),
        Entry(kind=Kind.BEGUN, at="", cluster="busy-us-east-2", step=DEPLOY),
    ]
    terminal = StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "90")
    with RolloutDisplay(plan, entries) as display:
        display.record(Task(cluster="busy-us-east-2", step=DEPLOY, interrupted=False, attempt=1), None)
        display.doing("busy-us-east-2", "its network")
        with (told := Console(file=StringIO(), width=90)).capture() as captured:
            told.print(display._table())
        display.doing("busy-us-east-2", "x" * 200)
        with (narrow := Console(file=StringIO(), width=60)).capture() as folded:
            narrow.print(display._table())

    assert folded.get().count("x") == 200, "what is too long is folded, not cut"
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in captured.get().splitlines()]
    header = captured.get().splitlines()[1]
    assert [word.strip() for word in header.split("┃")[1:-1]] == [
        *("wave", "cluster", "region", "step", "state", "seconds", "now")
    ]
    assert [row for row in rows if row] == [
        ["w", "early-us-east-2", "us-east-2", "deploy", "failed", "", "no [room]"],
        ["w", "busy-us-east-2", "us-east-2", "deploy", "begun", "0", "its network"],
        ["w", "late-us-east-2", "us-east-2", "", "waiting", "", ""],
    ]
    assert "│ late-us-east-2  │" in captured.get()  # words begin at the left, seconds end at the right
    assert "│       0 │" in captured.get()
