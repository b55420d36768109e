"""Cases of localaws/tests/field from a record: requests that AWS refused or accepted, and that need nothing of the run."""

import json
import pprint
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

__all__ = ["free_standing", "write_cases"]

_MASKED: Final = re.compile(r"RUN|MASKED|-0{10}\d{7}\b|0000-4000-8000|name-\d|left out|192\.0\.2\.")
_XFORM: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_READS: Final = ("Describe", "Get", "List", "Lookup")


def free_standing(record: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Return the calls of a record that another account can repeat: each refusal, and each call that changes something.

    Calls that name what the run made are left out, since it exists nowhere else.

    Yields:
        ID of the question, and the call.
    """
    for question in record["questions"]:
        seen = set()
        for call in question["calls"]:
            key = json.dumps([call["service"], call["operation"], call["request"]], sort_keys=True)
            said = call["error"] or not call["operation"].startswith(_READS)
            if said and key not in seen and not _MASKED.search(json.dumps(call["request"])):
                seen.add(key)
                yield question["id"], call


def write_cases(record: Mapping[str, Any], name: str, root: Path) -> list[Path]:
    """Write a case for each free-standing call.

    Args:
        record: The record.
        name: Name of the record.
        root: Folder of cases.
    """
    present = [tomllib.loads(path.read_text("utf-8")) for path in root.glob("*/*/case.toml")]
    number = max((int(case["id"]) for case in present), default=0)
    written = []
    for question, call in free_standing(record):
        slug = f"live-{question.lower()}-{call['operation'].lower()}"
        folder = root / call["service"] / slug
        count = 1
        while folder.exists():
            count += 1
            folder = root / call["service"] / f"{slug}-{count}"
        folder.mkdir(parents=True)
        number += 1
        (folder / "case.toml").write_text(_toml(number, question, call, record, name), encoding="utf-8")
        operation = _XFORM.sub("_", call["operation"]).lower()
        request = pprint.pformat(call["request"], width=100, sort_dicts=False)
        region = (
            f'local.client("{call["service"]}", "{call["region"]}")'
            if call["region"]
            else f'client("{call["service"]}")'
        )
        (folder / "calls.py").write_text(f"{region}.{operation}(\n    **{request}\n)\n", encoding="utf-8")
        written.append(folder)
    return written


def _toml(number: int, question: str, call: Mapping[str, Any], record: Mapping[str, Any], name: str) -> str:
    error = call["error"]
    message = str(error.get("Message", ""))
    values = {
        "id": str(number),
        "service": call["service"],
        "kind": "refusal" if error else "acceptance",
        "condition": f"{call['operation']} of question {question}",
        "quote": f"{error['Code']}: {message}" if error else "accepted",
        "url": f"tests/live/records/{name}.json",
        "date": record["date"],
        "confidence": "high",
        "evidence": "sent by a live run, with requests and responses in its record",
        "expect": "calls_refused" if error else "calls_accepted",
        **({"code": error["Code"], "matches": re.escape(message[:60])} if error else {}),
    }
    return "".join(f"{key} = {json.dumps(value)}\n" for key, value in values.items())
