"""Journal of a rollout: an append-only file, synchronized to disk before the work goes on."""

import dataclasses
import json
import os
from pathlib import Path
from typing import Final

from ultracluster_runtime.rollout.decide import Entry, Kind
from ultracluster_runtime.rollout.plan import RolloutPlan
from ultracluster_spec.findings import FindingsError, quote
from ultracluster_spec.record import RuleRecord
from ultracluster_spec.untrusted_files import LARGEST_JSON_FILE, parse_untrusted_json, read_untrusted_file


class FileJournal:
    """Journal in a file."""

    def __init__(self, path: Path, plan: RolloutPlan, entries: list[Entry]) -> None:
        self.path = path
        self.plan = plan
        self.entries = entries

    def append(self, entry: Entry) -> None:
        """Durably append an entry."""
        _append(self.path, entry)
        self.entries.append(entry)


def open_journal(path: Path, plan: RolloutPlan, *, at: str) -> FileJournal:
    """Create the journal of a rollout at a path whose folder exists."""
    planned = Entry(kind=Kind.PLANNED, at=at, values=json.loads(json.dumps(plan.as_values())))
    _append(path, planned)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)  # without this, a power failure could lose the file itself
    finally:
        os.close(folder)
    return FileJournal(path, plan, [planned])


def read_journal(path: Path) -> FileJournal:
    """Read a journal (UC9608). Ignore and remove a truncated last line left by a crash."""
    try:
        whole, _, torn = read_untrusted_file(path, most_bytes=LARGEST_JSON_FILE).rpartition(b"\n")
        lines = [parse_untrusted_json(line) for line in whole.splitlines()]
        entries = [Entry(**{**line, "kind": Kind(line["kind"])}) for line in lines]
        if not entries or entries[0].kind is not Kind.PLANNED:
            raise ValueError("it does not begin with a plan")  # noqa: TRY301 - reported like the other errors
        plan = RolloutPlan.from_values(entries[0].values)
        if torn:
            # Otherwise the next entry would continue this line.
            os.truncate(path, len(whole) + 1)
    except (OSError, ValueError, KeyError, TypeError) as error:
        problem = f"{quote(str(path))} is not a journal of a rollout: {type(error).__name__}: {error}"
        remedy = "Move its folder away; the next rollout then ignores it and compares with what is deployed"
        raise FindingsError.of("UC9608", problem, remedy=remedy) from error
    return FileJournal(path, plan, entries)


def _append(path: Path, entry: Entry) -> None:
    line = json.dumps(dataclasses.asdict(entry)) + "\n"
    with path.open("ab") as file:
        file.write(line.encode("ascii"))
        file.flush()
        os.fsync(file.fileno())


RECORDS: Final = (
    RuleRecord(
        "UC9608",
        "The journal of a rollout can be read.",
        remedy="Move its folder away: the next rollout then compares with what is deployed.",
        source="Our decision: a journal that says nothing must not be guessed.",
    ),
)
