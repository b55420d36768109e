"""Measure the steps of a command, and report them."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from ultracluster_cli.output import say

__all__ = ["measure", "measure_and_report"]


@contextmanager
def measure(steps: dict[str, float], step: str) -> Iterator[None]:
    """Add the seconds of the body to those of `step`, unless it fails."""
    start = time.monotonic()
    yield
    steps[step] = steps.get(step, 0.0) + time.monotonic() - start


@contextmanager
def measure_and_report(steps: dict[str, float], step: str) -> Iterator[list[str]]:
    """Measure the body as `measure` does, then print the lines it appended and its seconds."""
    messages: list[str] = []
    start = time.monotonic()
    with measure(steps, step):
        yield messages
    say(f"{'; '.join(messages)} ({time.monotonic() - start:.1f} s)")
