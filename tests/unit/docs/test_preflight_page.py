"""docs/reference/preflight.md lists the checks, and what they need to be allowed, as the registry has them."""

import json
import re
from pathlib import Path

from ultracluster_runtime.preflight.reader import ALLOWED_CALLS
from ultracluster_runtime.preflight.registry import CHECKS
from ultracluster_runtime.records import RECORDS

PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "preflight.md").read_text()

# IAM's names, where they are not those of the call.
PREFIXES = {"service-quotas": "servicequotas"}


def action(call: str) -> str:
    service, _, operation = call.partition(":")
    return f"{PREFIXES.get(service, service)}:{operation}"


def test_the_table_is_that_of_the_registry() -> None:
    rows = re.findall(r"^\| (UC\d{4}) \| (.*?) \| (.*?) \|$", PAGE, re.MULTILINE)
    assert rows == [
        (
            check.code,
            RECORDS[check.code].summary,
            ", ".join(f"`{call}`" for call in check.calls),
        )
        for check in CHECKS
    ]


def test_the_policy_allows_every_call_and_nothing_else() -> None:
    (text,) = re.findall(r"^```json\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    (statement,) = json.loads(text)["Statement"]
    assert statement["Action"] == sorted(action(call) for call in ALLOWED_CALLS)
    assert (statement["Effect"], statement["Resource"]) == ("Allow", "*")
