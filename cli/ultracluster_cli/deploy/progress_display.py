"""Shows how far a deployment is: a moving bar on a terminal, a line for each step elsewhere. On stderr."""

import sys
from contextlib import AbstractContextManager
from types import TracebackType
from typing import TYPE_CHECKING, Self

from ultracluster_cli.deploy.cdk_progress import DeploymentProgress
from ultracluster_cli.output import say

if TYPE_CHECKING:
    from rich.progress import TaskID

__all__ = ["BarDisplay", "LineDisplay", "ProgressDisplay", "progress_display"]


def progress_display() -> "ProgressDisplay":
    """Return the display that fits where stderr goes."""
    return BarDisplay() if sys.stderr.isatty() else LineDisplay()


class LineDisplay(AbstractContextManager["LineDisplay"]):
    """One line when synthesis, and one when each stack, is done; for logs."""

    def __init__(self) -> None:
        self._told: list[str] = []

    def __enter__(self) -> Self:
        return self

    def show(self, progress: DeploymentProgress) -> None:
        """Tell what is new since the last call."""
        for line in _lines(progress)[len(self._told) :]:
            self._told.append(line)
            say(line)

    def __exit__(self, *_: object) -> None:
        return


class BarDisplay(AbstractContextManager["BarDisplay"]):
    """A bar with the current stack, its resources and the time, under a line for each stack that is done."""

    def __init__(self) -> None:
        from rich.console import Console  # noqa: PLC0415 - only a terminal pays for rich
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415

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
        """Move the bar, and tell what is new since the last call."""
        self._lines.show(progress)
        if progress.current != self._stack:
            self._stack = progress.current
            if self._task is not None:
                self._bar.remove_task(self._task)
            self._task = self._bar.add_task(_doing(progress), total=None)
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


def _doing(progress: DeploymentProgress) -> str:
    if progress.synthesis_seconds is None:
        return "Synthesizing"
    if progress.current is None:
        return "Preparing the next stack"
    return f"[{len(progress.deployed) + 1}/{progress.stacks}] {_short(progress.current)}"


def _short(stack: str) -> str:
    """The construct path, without the name in CloudFormation that the CDK CLI adds."""
    return stack.partition(" (")[0]


def _lines(progress: DeploymentProgress) -> list[str]:
    lines = []
    if progress.synthesis_seconds is not None:
        lines.append(f"Synthesized in {progress.synthesis_seconds:.1f} s")
    lines += [
        f"{_short(stack.name)}: {'deployed' if stack.changed else 'no changes'}, {stack.seconds:.1f} s"
        for stack in progress.deployed
        if stack.seconds is not None
    ]
    return lines
