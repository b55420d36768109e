"""Records of live runs: what was asked, sent and answered, without what names an account. They are kept in tests/live/records."""

import json
import os
import platform
import re
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import boto3
from tests.live.journal import NOT_SHOWN, SCHEMA, SHOWN, Journal

__all__ = ["RECORDS", "RecordError", "load", "load_all", "mask", "record_of", "verdicts", "write"]

RECORDS: Final = Path(__file__).with_name("records")
_ACCOUNT: Final = "123456789012"
_SECRETS: Final = frozenset(
    {
        "Credentials",
        "SecretAccessKey",
        "SessionToken",
        "UserData",
        "NextToken",
        "nextToken",
        "ClientToken",
        "clientToken",
        "CertificateAuthorityArn",
    }
)
_MASKS: Final = tuple(
    (re.compile(pattern), kind, form)
    for pattern, kind, form in (
        (
            r"()\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b",
            "uuid",
            "00000000-0000-4000-8000-{:012d}",
        ),
        (r"\b([a-z]{1,12}(?:-[a-z]{1,8})?-)(?:[0-9a-f]{17}|[0-9a-f]{8})\b", "id", "{:017d}"),
        (r"\b((?:ip|ec2)-)\d{1,3}(?:-\d{1,3}){3}\b", "host", "192-0-2-{}"),
        (r"()\b\d{1,3}(?:\.\d{1,3}){3}\b", "address", "192.0.2.{}"),
        (r"()\b[\w.+-]+@[\w-]+\.[\w.-]+\b", "mail", "you-{}@example.com"),
        (r"()\bA[A-Z]{3}[A-Z0-9]{16,17}\b", "principal id", "AIDAMASKED{:010d}"),
        (r"((?:assumed-role|user|role|federated-user)/)[\w+=,.@/-]+", "principal", "name-{}"),
        (r"()(?<![0-9a-f-])(?!123456789012)\d{12}(?![0-9a-f])", "account", "{:012d}"),
        (r"(Encoded authorization failure message: )\S+", "message", "MASKED-{}"),
    )
)
"""What names something, the kind of what it names, and what is put in its place; what the group has is kept."""


class RecordError(Exception):
    """A record that cannot be read."""


class _Masks:
    """Masks of one record: the same value gets the same mask."""

    def __init__(self, account: str, run: str) -> None:
        self._account, self._run = account, run
        self._known: dict[str, dict[str, str]] = defaultdict(dict)

    def text(self, text: str) -> str:
        """Mask a text."""
        if self._account:
            text = text.replace(self._account, _ACCOUNT)
        text = text.replace(self._run, "RUN")
        for pattern, kind, form in _MASKS:
            text = pattern.sub(lambda found, of=(kind, form): found[1] + self._number(found, *of), text)
        return text

    def _number(self, found: re.Match[str], kind: str, form: str) -> str:
        known = self._known[kind + found[1]]
        return known.setdefault(found[0], form.format(len(known) + 1))

    def value(self, value: Any) -> Any:
        """Mask a value of JSON."""
        if isinstance(value, dict):
            return {
                self.text(key): "MASKED" if key in _SECRETS else self.value(inner)
                for key, inner in value.items()
            }
        if isinstance(value, list):
            return [self.value(inner) for inner in value]
        return self.text(value) if isinstance(value, str) else value


def mask(value: Any, *, account: str, run: str) -> Any:
    """Return a value without what names an account, its resources or its people; equal things stay equal.

    Args:
        value: Value of JSON.
        account: ID of the account.
        run: ID of the run.
    """
    return _Masks(account, run).value(value)


def record_of(journal: Journal, *, account: str, version: str) -> dict[str, Any]:
    """Return the record of a run.

    Args:
        journal: Journal of the run.
        account: ID of the account, which the record does not have.
        version: Version of ultracluster that asked.
    """
    (begun, *_) = journal.of("run")
    asked = {
        event["question"]: {
            "id": event["question"],
            "date": event["at"][:10],
            **{key: event[key] for key in ("verdict", "why", "facts", "calls")},
        }
        for event in journal.of("end")
        if event["verdict"] in {SHOWN, NOT_SHOWN}
    }
    record = {
        "schema": SCHEMA,
        "run": "RUN",
        "date": begun["at"][:10],
        "region": begun["region"],
        "block_region": begun["block_region"],
        "versions": {
            "ultracluster": version,
            "boto3": boto3.__version__,
            "python": platform.python_version(),
        },
        "questions": list(asked.values()),
    }
    masked: dict[str, Any] = mask(record, account=account, run=begun["run"])
    return masked


def write(record: Mapping[str, Any], folder: Path, name: str) -> Path:
    """Write a record as a whole or not at all, and return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(record, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    with partial.open("rb") as file:
        os.fsync(file.fileno())
    partial.rename(path)
    return path


def load(path: Path) -> dict[str, Any]:
    """Read a record.

    Raises:
        RecordError: If it is half written, of another version, or no record.
    """
    try:
        record = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise RecordError(f"{path}: not a whole record: {error}") from None
    if not isinstance(record, dict) or record.get("schema") != SCHEMA:
        found = record.get("schema") if isinstance(record, dict) else None
        raise RecordError(f"{path}: schema {found!r}, but this version reads {SCHEMA}")
    wanted = {"id", "verdict", "date", "why", "facts", "calls"}
    questions = record.get("questions")
    if not isinstance(questions, list) or any(
        not isinstance(each, dict) or set(each) != wanted for each in questions
    ):
        raise RecordError(f"{path}: its questions do not have {', '.join(sorted(wanted))}")
    return record


def load_all(folder: Path = RECORDS) -> dict[str, dict[str, Any]]:
    """Read all records by name, oldest first.

    Raises:
        RecordError: If one cannot be read.
    """
    found = {path.stem: load(path) for path in sorted(folder.glob("*.json"))}
    return dict(sorted(found.items(), key=lambda item: (item[1]["date"], item[0])))


def verdicts(records: Mapping[str, Mapping[str, Any]]) -> dict[str, tuple[str, str, str]]:
    """Return the newest verdict on each question: verdict, date and name of the record."""
    return {
        question["id"]: (question["verdict"], question["date"], name)
        for name, record in records.items()
        for question in record["questions"]
    }
