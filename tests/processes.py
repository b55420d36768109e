"""Processes that a test looks after: what they leave behind, on systems with /proc, and what they come to."""

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

__all__ = ["descendants", "eventually", "wait_until_gone"]


def descendants(pid: int) -> list[int]:
    """Ids of all processes below one, from /proc."""
    parents = dict(_processes())
    found = [pid]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found[1:]


def eventually(seen: Callable[[], object], *, pause: float = 0.1) -> None:
    """Wait until something is so, for two minutes at the most."""
    deadline = time.monotonic() + 120
    while not seen():
        assert time.monotonic() < deadline
        time.sleep(pause)


def wait_until_gone(pids: Sequence[int], *, seconds: float = 5) -> list[int]:
    """Wait until processes have ended, and give those that have not."""
    deadline = time.monotonic() + seconds
    while any(_exists(pid) for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.02)
    return [pid for pid in pids if _exists(pid)]


def _exists(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def _processes() -> Iterator[tuple[int, int]]:
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            yield int(status.parent.name), int(status.read_text().rpartition(")")[2].split()[1])
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has ended meanwhile
