"""docs/reference/preflight.md lists what the checks need to be allowed, and says between which codes they are."""

import json
import re
from pathlib import Path

from ultracluster_runtime.preflight.reader import ALLOWED_CALLS
from ultracluster_runtime.preflight.registry import CHECKS

PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "preflight.md").read_text()

# IAM's names, where they are not those of the call.
PREFIXES = {"service-quotas": "servicequotas"}


def action(call: str) -> str:
    service, _, operation = call.partition(":")
    return f"{PREFIXES.get(service, service)}:{operation}"


def test_the_page_names_the_first_and_the_last_check() -> None:
    codes = sorted(check.code for check in CHECKS)
    assert f"{codes[0]} to {codes[-1]} are the checks" in PAGE


def test_the_policy_allows_every_call_and_nothing_else() -> None:
    (text,) = re.findall(r"^```json\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    (statement,) = json.loads(text)["Statement"]
    assert statement["Action"] == sorted(action(call) for call in ALLOWED_CALLS)
    assert (statement["Effect"], statement["Resource"]) == ("Allow", "*")
