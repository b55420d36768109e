"""Parse the progress of the CDK CLI from its `--progress events` output, and show it on stderr."""

import re
import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from ultracluster_cli.output import say

_COLORS = re.compile(r"\x1b\[[0-9;]*m")
_STARTED = re.compile(r"^(?P<stack>\S.*): deploying\.\.\. \[(?P<number>\d+)/(?P<of>\d+)\]$")
_EVENT = re.compile(
    r"^(?P<name>\S+) \| +(?P<done>\d+)(?:/ *(?P<total>\d+))? \| [^|]+ \| (?P<status>[A-Z_]+) +\| "
)
_DEPLOYED = re.compile(r"^\s*✅  (?P<stack>\S.*?)(?P<same> \(no changes\))?$")
_SECONDS = re.compile(r"^✨  Deployment time: (?P<seconds>[\d.]+)s$")
_FAILED = re.compile(r"_FAILED\b|❌|^\[?Error\b|\bis not authorized\b")
_LAST_LINES = 8


@dataclass(frozen=True, kw_only=True, slots=True)
class DeployedStack:
    """A stack that the CDK CLI reported as deployed: its display name, ``STAGE/ID (NAME)``, and its time, if known."""

    name: str
    changed: bool
    seconds: float | None = None


@dataclass(kw_only=True, slots=True)
class DeploymentProgress:
    """The reported progress of `cdk deploy`.

    Attributes:
        current: Stack being deployed. None between stacks.
        stacks: Number of stacks to deploy. 0 until the first starts.
        resources_done: Finished resources of the current stack.
        resources_total: Total resources of the current stack. 0 while unknown.
        last_lines: Last non-empty output lines, shown when a failure has no line of its own.
    """

    current: str | None = None
    stacks: int = 0
    resources_done: int = 0
    resources_total: int = 0
    deployed: list[DeployedStack] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    last_lines: deque[str] = field(default_factory=lambda: deque(maxlen=_LAST_LINES))

    def read(self, line: str) -> None:
        """Update the progress from one line of output."""
        line = _COLORS.sub("", line)
        if match := _STARTED.match(line):
            self.current, self.stacks = match["stack"], int(match["of"])
            self.resources_done = self.resources_total = 0
        elif match := _DEPLOYED.match(line):
            self.deployed.append(DeployedStack(name=match["stack"], changed=not match["same"]))
            self.current = None
            self.resources_done = self.resources_total = 0
        elif match := _SECONDS.match(line):
            self.deployed[-1:] = [
                replace(stack, seconds=float(match["seconds"])) for stack in self.deployed[-1:]
            ]
        elif match := _EVENT.match(line):
            self.resources_done, self.resources_total = int(match["done"]), int(match["total"] or 0)
        if line.strip():
            self.last_lines.append(line.strip())
        if _FAILED.search(line):
            self.failures.append(line.strip())


@contextmanager
def progress_display() -> Iterator[Callable[[DeploymentProgress], None]]:
    """Yield a function that shows what is new on stderr: a line for each stack, and a bar on a terminal."""
    printed = 0

    def show_lines(progress: DeploymentProgress) -> None:
        nonlocal printed
        for line in _lines(progress)[printed:]:
            printed += 1
            say(line)

    if not sys.stderr.isatty():
        yield show_lines
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        stack: str | None = None
        task = bar.add_task(_activity(DeploymentProgress()), total=None)

        def show_bar(progress: DeploymentProgress) -> None:
            nonlocal stack, task
            show_lines(progress)
            if progress.current != stack:
                stack = progress.current
                bar.remove_task(task)
                task = bar.add_task(_activity(progress), total=None)
            bar.update(task, completed=progress.resources_done, total=progress.resources_total or None)

        yield show_bar


def _activity(progress: DeploymentProgress) -> str:
    if progress.current is None:
        return "Preparing the next stack"
    return f"[{len(progress.deployed) + 1}/{progress.stacks}] {_short(progress.current)}"


def _short(stack: str) -> str:
    """Return the construct path, without the stack name that the CDK CLI appends."""
    return stack.partition(" (")[0]


def _lines(progress: DeploymentProgress) -> list[str]:
    return [
        f"{_short(stack.name)}: {'deployed' if stack.changed else 'no changes'}, {stack.seconds:.1f} s"
        for stack in progress.deployed
        if stack.seconds is not None
    ]
