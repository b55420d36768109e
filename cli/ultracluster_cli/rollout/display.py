"""Show the progress of a rollout on stderr: a live table on a terminal, lines elsewhere."""

import sys
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Self

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from ultracluster_cli.output import echo
from ultracluster_runtime.rollout.decide import Entry, Kind, Task, states_of
from ultracluster_runtime.rollout.drive import Result
from ultracluster_runtime.rollout.plan import RolloutPlan

_REFRESHES = 4
_COLUMNS = ("wave", "cluster", "step", "state", "seconds")  # the name of a cluster ends with its Region
_GAP = 2  # columns between two of the table


def rows_of(plan: RolloutPlan, entries: Sequence[Entry]) -> list[dict[str, str]]:
    """Return a row for each cluster with the state of its latest step."""
    rows = []
    states = states_of(entries)
    # A restart clears failures, but the final table of a run still shows them.
    for cluster in plan.clusters:
        begun_steps = [step for step in cluster.steps if (cluster.name, step) in states]
        last = begun_steps[-1] if begun_steps else ""
        state = states.get((cluster.name, last))
        notes = [entry.note for entry in entries if (entry.cluster, entry.step) == (cluster.name, last)]
        done = state is Kind.PASSED and last == cluster.steps[-1]
        rows.append(
            {
                "wave": cluster.wave,
                "cluster": cluster.name,
                "region": cluster.region,
                "step": last,
                "state": "done" if done else str(state) if state else "waiting",
                "note": notes[-1] if notes and state is not Kind.BEGUN else "",
            }
        )
    return rows


@dataclass
class _Activity:
    step: str
    since: float = field(default_factory=time.monotonic)
    what: str = ""


class RolloutDisplay(ExitStack):
    """Show a running rollout. Thread-safe."""

    def __init__(self, plan: RolloutPlan, entries: Sequence[Entry]) -> None:
        super().__init__()
        self._plan = plan
        self._entries = entries
        self._lock = threading.Lock()
        self._activities: dict[str, _Activity] = {}
        self._live = False
        self._console = Console(stderr=True)

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            # It disappears in the end, because the report prints the same table.
            live = Live(
                console=self._console,
                get_renderable=self._table,
                refresh_per_second=_REFRESHES,
                transient=True,
            )
            self.enter_context(live)
            self._live = True
        return self

    def doing(self, cluster: str, what: str) -> None:
        """Update the activity of a cluster."""
        with self._lock:
            if cluster in self._activities:
                self._activities[cluster].what = what

    def record(self, task: Task, result: Result | None) -> None:
        """Record the start of a step, or its result."""
        with self._lock:
            if result is None:
                self._activities[task.cluster] = _Activity(step=task.step)
                message = "restarted after an interruption" if task.interrupted else "started"
            else:
                seconds = time.monotonic() - self._activities.pop(task.cluster).since
                verdict = {True: "passed", False: "FAILED", None: "cancelled"}[result.passed]
                message = f"{verdict} after {seconds:.1f} s" + (f": {result.note}" if result.note else "")
        if not self._live:
            echo(f"{task.cluster}: {task.step} {message}")

    def _table(self) -> Group:
        """Return the table, with what each cluster does in a column, or below it where that would cut words."""
        cells, doings = [], []
        with self._lock:
            for row in rows_of(self._plan, self._entries):
                activity = self._activities.get(row["cluster"])
                seconds = f"{time.monotonic() - activity.since:.0f}" if activity else ""
                cells.append((row["wave"], row["cluster"], row["step"], row["state"], seconds))
                doings.append(activity.what if activity else row["note"])
        widths = [max(map(len, column)) for column in zip(_COLUMNS, *cells, strict=True)]
        room = self._console.width - sum(widths) - _GAP * len(widths)
        beside = all(len(word) <= room for doing in doings for word in doing.split())
        table = Table(header_style="bold", box=None, padding=(0, _GAP, 0, 0), pad_edge=False)
        for name in _COLUMNS:
            table.add_column(name, justify="right" if name == "seconds" else "left", no_wrap=True)
        if beside and any(doings):
            table.add_column("now")
        for cell, doing in zip(cells, doings, strict=True):
            table.add_row(*map(Text, cell), *([Text(doing)] if beside and any(doings) else []))
        below = (
            []
            if beside
            else [Text(f"{cell[1]}: {doing}") for cell, doing in zip(cells, doings, strict=True) if doing]
        )
        return Group(table, *below)
