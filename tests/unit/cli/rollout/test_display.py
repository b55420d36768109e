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


@pytest.mark.parametrize(
    ("columns", "doing", "beside"),
    [(80, "its network", True), (80, "x" * 200, False), (60, "its network", False)],
)
def test_the_table_on_a_terminal_says_where_each_cluster_is_and_what_it_does_without_cutting_words(
    columns: int, doing: str, monkeypatch: pytest.MonkeyPatch, *, beside: bool
) -> None:
    names = ("early-us-east-2", "finetune-ap-southeast-4", "late-us-east-2")
    plan = rollout_plan(*(planned_cluster(name, steps=(DEPLOY, STACKS)) for name in names))
    early, busy, _ = names
    entries = [
        Entry(kind=Kind.BEGUN, at="", cluster=early, step=DEPLOY),
        Entry(kind=Kind.FAILED, at="", cluster=early, step=DEPLOY, note="no [room]"),
        Entry(kind=Kind.BEGUN, at="", cluster=busy, step=DEPLOY),
    ]
    terminal = StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", str(columns))
    with RolloutDisplay(plan, entries) as display:
        display.record(Task(cluster=busy, step=DEPLOY, interrupted=False, attempt=1), None)
        display.doing(busy, doing)
        with (told := Console(file=StringIO(), width=columns)).capture() as captured:
            told.print(display._table())

    header, *rows = (line.split() for line in captured.get().splitlines())
    table, below = rows[:3], rows[3:]
    assert header == ["wave", "cluster", "step", "state", "seconds", *(["now"] if beside else [])]
    assert [row[:4] for row in table] == [
        ["w", early, "deploy", "failed"],
        ["w", busy, "deploy", "begun"],
        ["w", "late-us-east-2", "waiting"],
    ]
    assert max(map(len, captured.get().splitlines())) <= columns
    said = captured.get().replace("\n", "")
    assert "no [room]" in said
    assert doing in said, "what is too long is folded, not cut"
    assert (below == []) == beside
