"""Measure the steps of a command, and report them."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from ultracluster_cli.output import say

__all__ = ["timed", "told"]


@contextmanager
def timed(steps: dict[str, float], step: str) -> Iterator[None]:
    """Add the seconds of the body to those of `step`, unless it fails."""
    began = time.monotonic()
    yield
    steps[step] = steps.get(step, 0.0) + time.monotonic() - began


@contextmanager
def told(steps: dict[str, float], step: str) -> Iterator[list[str]]:
    """Measure the body as `timed` does, then print the lines it appended and its seconds."""
    came_of_it: list[str] = []
    began = time.monotonic()
    with timed(steps, step):
        yield came_of_it
    say(f"{'; '.join(came_of_it)} ({time.monotonic() - began:.1f} s)")
