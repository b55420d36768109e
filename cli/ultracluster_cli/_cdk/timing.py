"""Measure and report the steps of a command."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from ultracluster_cli.output import say


@contextmanager
def measure(steps: dict[str, float], step: str) -> Iterator[None]:
    """Add the duration of the body to `step`, unless it fails."""
    start = time.monotonic()
    yield
    steps[step] = steps.get(step, 0.0) + time.monotonic() - start


@contextmanager
def measure_and_report(steps: dict[str, float], step: str) -> Iterator[list[str]]:
    """Measure the body, then print the messages that it appended and its duration."""
    messages: list[str] = []
    start = time.monotonic()
    with measure(steps, step):
        yield messages
    say(f"{'; '.join(messages)} ({time.monotonic() - start:.1f} s)")
