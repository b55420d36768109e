"""`suppress` of a rollout: warnings that somebody has looked at are not shown, and stay on record with their reason."""

from collections.abc import Callable

import pytest
from tests.unit.stacks.config.suppression_edits import REASON, THREE_NODES, suppress

from ultracluster_spec.findings import Finding

Findings = Callable[..., list[Finding]]
_CLUSTER = "waves[0].clusters[0]"


@pytest.mark.parametrize(
    ("code", "reason", "found", "part"),
    [
        ("UC4150", REASON, "UC2240", "Allowed: the code of a warning, such as UC4103"),
        ("uc4103", REASON, "UC2240", "got 'uc4103', which is not a rule"),
        ("UC4101", REASON, "UC2241", "UC4101 is an error that cannot be suppressed"),
        ("UC4113", REASON, "UC2241", "UC4113 is a warning that cannot be suppressed"),
        ("UC2243", REASON, "UC2241", "UC2243 is a warning that cannot be suppressed"),
        ("UC4103", "' '", "UC2242", "the reason is empty"),
        ("UC4103", "''", "UC2242", "the reason is empty"),
    ],
)
def test_refuses_what_cannot_be_suppressed_and_shows_the_warning(
    findings: Findings, code: str, reason: str, found: str, part: str
) -> None:
    refusal, warning = findings(suppress(code, reason), THREE_NODES)
    assert (refusal.code, refusal.path) == (found, f"{_CLUSTER}.suppress.{code}")
    assert part in str(refusal)
    assert refusal.location == "rollout.yaml:12"
    assert warning.code == "UC4103"
