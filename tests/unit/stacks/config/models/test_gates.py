"""Gates of a job in a rollout file."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from ultracluster_rules.findings import Finding
from ultracluster_stacks.config import LoadedRollout
from ultracluster_stacks.config.models.job import JobConfig

_JOB = "            environment: {NEURON_RT_LOG_LEVEL: INFO}\n"
_GATES = "            gates: {fabric: true, smoke: true}\n"


def test_a_job_has_no_gates_unless_told(load: Callable[..., LoadedRollout]) -> None:
    (job,) = load().config.waves[0].clusters[0].jobs
    assert job.gate_names == ()


def test_gates_are_called_after_their_job(load: Callable[..., LoadedRollout]) -> None:
    (job,) = load((_JOB, _JOB + _GATES)).config.waves[0].clusters[0].jobs
    assert job.gate_names == ("pretrain-fabric", "pretrain-smoke")


def test_a_job_cannot_have_the_name_of_a_gate(findings: Callable[..., list[Finding]]) -> None:
    other = '          - {name: pretrain-smoke, image: "123456789012.dkr.ecr.us-east-2.amazonaws.com/t:1", command: [x]}\n'
    found = findings((_JOB, _JOB + _GATES + other))
    assert [(each.code, each.path) for each in found] == [("UC6153", "waves[0].clusters[0].jobs[0].gates")]


@pytest.mark.parametrize(("gates", "codes"), [("{fabric: true}", ["UC6150"]), ("{smoke: true}", [])])
def test_only_the_fabric_gate_needs_a_fabric(
    findings: Callable[..., list[Finding]], gates: str, codes: list[str]
) -> None:
    found = findings(
        ("trn2.48xlarge", "trn1.2xlarge"),
        ("nodes: 4", "nodes: 1"),
        (_JOB, f"{_JOB}            gates: {gates}\n"),
    )
    assert [each.code for each in found if each.code.startswith("UC61")] == codes


def test_a_job_of_one_node_has_no_gates(findings: Callable[..., list[Finding]]) -> None:
    found = findings((_JOB, f"{_JOB}            kind: single-node\n{_GATES}"))
    assert [(each.code, each.path) for each in found] == [("UC6112", "waves[0].clusters[0].jobs[0].gates")]


def test_the_example_of_the_documentation_is_one() -> None:
    text = (Path(__file__).parents[5] / "docs/training.md").read_text()
    (example,) = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
    job = JobConfig.model_validate_json(json.dumps(yaml.safe_load(example)["jobs"][0]))
    assert job.gate_names == ("pretrain-fabric", "pretrain-smoke")
    assert job.gates.min_bandwidth == 30
