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
from tests.live.asking import NOT_SHOWN
from tests.live.journal import SCHEMA, SHOWN, Journal

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
_ID: Final = re.compile(r"\b([a-z]{1,12}(?:-[a-z]{1,8})?)-([0-9a-f]{17}|[0-9a-f]{8})\b")
_UUID: Final = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
_ADDRESS: Final = re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}\b")
_HOST: Final = re.compile(r"\b(ip|ec2)-\d{1,3}(?:-\d{1,3}){3}\b")
_MAIL: Final = re.compile(r"\b[\w.+-]+@[\w-]+\.[\w.-]+\b")
_PRINCIPAL: Final = re.compile(r"((?:assumed-role|user|role|federated-user)/)([\w+=,.@/-]+)")
_ACCESS: Final = re.compile(r"\bA[A-Z]{3}[A-Z0-9]{16,17}\b")
_ENCODED: Final = re.compile(r"(Encoded authorization failure message: )\S+")
_TWELVE_DIGITS: Final = re.compile(r"(?<![0-9a-f-])\d{12}(?![0-9a-f])")


class RecordError(Exception):
    """A record that cannot be read."""


class _Masks:
    """Masks of one record: the same value gets the same mask."""

    def __init__(self, account: str, run: str) -> None:
        self._account, self._run = account, run
        self._known: dict[str, dict[str, str]] = defaultdict(dict)

    def _number(self, kind: str, value: str, form: str) -> str:
        known = self._known[kind]
        return known.setdefault(value, form.format(len(known) + 1))

    def text(self, text: str) -> str:
        """Mask a text."""
        if self._account:
            text = text.replace(self._account, _ACCOUNT)
        text = text.replace(self._run, "RUN")
        text = _ENCODED.sub(r"\1MASKED", text)
        text = _UUID.sub(
            lambda found: self._number("uuid", found[0], "00000000-0000-4000-8000-{:012d}"), text
        )
        text = _ID.sub(lambda found: self._number(found[1], found[0], found[1] + "-{:017d}"), text)
        text = _HOST.sub(lambda found: self._number("host", found[0], found[1] + "-192-0-2-{}"), text)
        text = _ADDRESS.sub(lambda found: self._number("address", found[0], "192.0.2.{}"), text)
        text = _MAIL.sub("you@example.com", text)
        text = _ACCESS.sub(lambda found: self._number("principal id", found[0], "AIDAMASKED{:010d}"), text)
        text = _PRINCIPAL.sub(lambda found: found[1] + self._number("principal", found[2], "name-{}"), text)
        return _TWELVE_DIGITS.sub(
            lambda found: found[0] if found[0] == _ACCOUNT else self._number("account", found[0], "{:012d}"),
            text,
        )

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
    questions = {}
    for event in journal.of("end"):
        if event["verdict"] in {SHOWN, NOT_SHOWN}:
            questions[event["question"]] = {
                "id": event["question"],
                "verdict": event["verdict"],
                "date": event["at"][:10],
                "why": event["why"],
                "facts": event["facts"],
                "calls": event["calls"],
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
        "questions": list(questions.values()),
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
