"""Show the progress of a deployment on stderr: a bar on a terminal, lines elsewhere."""

import sys
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from ultracluster_cli.deploy.cdk_progress import DeploymentProgress
from ultracluster_cli.output import say


def progress_display() -> "ProgressDisplay":
    """Return the display that suits stderr."""
    return BarDisplay() if sys.stderr.isatty() else LineDisplay()


class LineDisplay(AbstractContextManager["LineDisplay"]):
    """Print a line after each stack."""

    def __init__(self) -> None:
        self._printed: list[str] = []

    def __enter__(self) -> Self:
        return self

    def show(self, progress: DeploymentProgress) -> None:
        """Print the lines that are new since the last call."""
        for line in _lines(progress)[len(self._printed) :]:
            self._printed.append(line)
            say(line)

    def __exit__(self, *_: object) -> None:
        return


class BarDisplay(AbstractContextManager["BarDisplay"]):
    """Show a bar with the current stack, its resources and the time, below the finished stacks."""

    def __init__(self) -> None:
        self._lines = LineDisplay()
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._task: TaskID | None = None
        self._stack: str | None = "none yet"

    def __enter__(self) -> Self:
        self._bar.__enter__()
        return self

    def show(self, progress: DeploymentProgress) -> None:
        """Update the bar, and print the lines that are new since the last call."""
        self._lines.show(progress)
        if progress.current != self._stack:
            self._stack = progress.current
            if self._task is not None:
                self._bar.remove_task(self._task)
            self._task = self._bar.add_task(_activity(progress), total=None)
        if self._task is not None:
            self._bar.update(
                self._task,
                completed=progress.resources_done,
                total=progress.resources_total or None,
            )

    def __exit__(
        self,
        exception_type: type[BaseException] | None,
        exception: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._bar.__exit__(exception_type, exception, traceback)


ProgressDisplay = LineDisplay | BarDisplay


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
