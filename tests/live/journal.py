"""The journal of a run: append-only JSON lines, each on disk before what it announces is done, so that a run can go on."""

import json
import os
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import filelock

__all__ = ["INTERRUPTED", "NOT_SHOWN", "SCHEMA", "SHOWN", "Journal", "JournalError"]

SCHEMA: Final = 1
SHOWN: Final = "shown"
NOT_SHOWN: Final = "not shown"
INTERRUPTED: Final = "interrupted"


class JournalError(Exception):
    """A journal that cannot be continued."""


class Journal:
    """What a run has reserved, sent and found.

    Args:
        folder: Folder of the run.

    Raises:
        JournalError: If another process has the run, or the journal is of another version or not one.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / "journal.jsonl"
        self._lock = filelock.FileLock(folder / "lock")
        try:
            self._lock.acquire(blocking=False)
        except filelock.Timeout:
            raise JournalError(f"another process continues the run in {folder}") from None
        try:
            self.events = list(self._read())
        except JournalError:
            self.close()
            raise

    def close(self) -> None:
        """Let other processes continue the run."""
        self._lock.release()

    def _read(self) -> Iterator[dict[str, Any]]:
        if not self.path.exists():
            return
        content = self.path.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        if whole != content:  # a kill while the last line was written: what it announces was never done
            with self.path.open("r+b") as file:
                file.truncate(len(whole))
        for number, line in enumerate(whole.decode("utf-8", "replace").splitlines(), start=1):
            try:
                event = json.loads(line)
            except ValueError:
                raise JournalError(f"{self.path}, line {number}: not JSON") from None
            if number == 1 and event.get("schema") != SCHEMA:
                raise JournalError(
                    f"{self.path}: schema {event.get('schema')!r}, but this version reads {SCHEMA}; start a new run"
                )
            yield event

    def append(self, kind: str, **values: Any) -> None:
        """Append an event and wait until it is on disk."""
        event = {"event": kind, **({} if self.events else {"schema": SCHEMA}), **values}
        with self.path.open("ab") as file:
            file.write(json.dumps(event, default=str).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        self.events.append(json.loads(json.dumps(event, default=str)))

    def of(self, kind: str, question: str = "") -> list[dict[str, Any]]:
        """Return the events of a kind, of one question if it is given."""
        found = (event for event in self.events if event["event"] == kind)
        return [event for event in found if question in {"", event.get("question", "")}]

    @property
    def reserved(self) -> Decimal:
        """USD that the run may have cost: the worst cases of all questions that began."""
        return sum((Decimal(event["usd"]) for event in self.of("reserve")), Decimal(0))

    def verdict(self, question: str) -> str:
        """Return the last verdict of a question; `INTERRUPTED` if it was begun and did not end, empty if it was not begun."""
        for event in reversed(self.events):
            if event.get("question") == question and event["event"] in {"end", "reserve"}:
                return str(event["verdict"]) if event["event"] == "end" else INTERRUPTED
        return ""

    def values(self, question: str) -> dict[str, Any]:
        """Return what a question found for those that need it, when it was last shown."""
        shown = [event for event in self.of("end", question) if event["verdict"] == SHOWN]
        return dict(shown[-1]["values"]) if shown else {}
