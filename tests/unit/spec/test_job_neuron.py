"""Neuron settings in a rollout file."""

from collections.abc import Callable

import pytest

from ultracluster_spec.findings import Finding

Findings = Callable[..., list[Finding]]
_IMAGE = "image: 1"
_FIRST_JOB = "waves[0].clusters[0].jobs[0]"


@pytest.mark.parametrize(
    ("setting", "code", "part"),
    [
        ("neuron: {exec_timeout_seconds: -1}", "UC6011", "0 to 2,147,483,647"),
    ],
)
def test_a_setting_of_a_job_is_taken_or_refused(
    findings: Findings, setting: str, code: str, part: str
) -> None:
    found = findings((_IMAGE, f"{setting}\n            {_IMAGE}"))
    assert [each.code for each in found] == ([code] if code else [])
    assert all(part in str(each) and each.path.startswith(_FIRST_JOB) and each.location for each in found)
