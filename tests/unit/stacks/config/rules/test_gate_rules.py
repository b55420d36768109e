"""The gates of a job."""

from collections.abc import Callable

import pytest

from ultracluster_rules.findings import Finding, Severity

Findings = Callable[..., list[Finding]]
_ENVIRONMENT_LINE = "            environment: {NEURON_RT_LOG_LEVEL: INFO}\n"
_GATES = "            gates: {fabric: true, smoke: true}\n"


@pytest.mark.parametrize(
    ("edits", "code"),
    [
        ([("image: 1", "gates: {fabric: true, smoke: true}\n            image: 1")], "UC6150"),
        ([("name: pretrain", "name: pretrain-fabric\n            gates: {fabric: true}")], "UC6153"),
    ],
)
def test_accepts_the_last_allowed_value(findings: Findings, edits: list[tuple[str, str]], code: str) -> None:
    found = findings(*edits)

    assert code not in {finding.code for finding in found}
    assert not [finding for finding in found if finding.severity is Severity.ERROR], found


def test_a_job_cannot_have_the_name_of_a_gate(findings: Callable[..., list[Finding]]) -> None:
    other = '          - {name: pretrain-smoke, image: "123456789012.dkr.ecr.us-east-2.amazonaws.com/t:1", command: [x]}\n'
    found = findings((_ENVIRONMENT_LINE, _ENVIRONMENT_LINE + _GATES + other))
    assert [(each.code, each.path) for each in found] == [("UC6153", "waves[0].clusters[0].jobs[0].gates")]


@pytest.mark.parametrize(("gates", "codes"), [("{fabric: true}", ["UC6150"]), ("{smoke: true}", [])])
def test_only_the_fabric_gate_needs_a_fabric(
    findings: Callable[..., list[Finding]], gates: str, codes: list[str]
) -> None:
    found = findings(
        ("trn2.48xlarge", "trn1.2xlarge"),
        ("nodes: 4", "nodes: 1"),
        (_ENVIRONMENT_LINE, f"{_ENVIRONMENT_LINE}            gates: {gates}\n"),
    )
    assert [each.code for each in found if each.code.startswith("UC61")] == codes
