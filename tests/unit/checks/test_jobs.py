"""Rules for job definitions: nodes, attempts, images, resources."""

from typing import Any

import pytest
from tests.unit.checks.defects import DROP
from tests.unit.checks.edits import JOB, codes_after

from ultracluster_checks import Source, check_templates

SHARES = "arn:aws:batch:us-east-2:123456789012:scheduling-policy/teams"

BROKEN: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("UC6418", "batch-efa", {"JobDefinition/Type": "container"}),
    (
        "UC6101",
        "batch-efa",
        {
            "/Parameters/Nodes/Default": 5,
            "JobDefinition/NodeProperties/NodeRangeProperties/0/TargetNodes": "0:",
        },
    ),
    ("UC6412", "batch-efa", {"JobQueue/SchedulingPolicyArn": SHARES}),
    ("UC6413", "batch-efa", {f"{JOB}/ResourceRequirements": [{"Type": "VCPU", "Value": "8"}]}),
    ("UC6413", "batch-efa", {f"{JOB}/ResourceRequirements": DROP}),
    ("UC6411", "batch-efa", {f"{JOB}/Command": ["x" * 24 * 1024]}),
    ("UC6108", "batch-efa", {f"{JOB}/Image": "123456789012.dkr.ecr.eu-west-1.amazonaws.com/train:1"}),
)

KEPT: tuple[tuple[str, dict[str, Any]], ...] = (
    (
        "batch-efa",
        {
            "JobDefinition/RetryStrategy": {
                "Attempts": 10,
                "EvaluateOnExit": [{"Action": "EXIT", "OnReason": "*"}],
            },
            "JobDefinition/Timeout/AttemptDurationSeconds": 600,
        },
    ),
    ("batch-efa", {"JobDefinition/NodeProperties/MainNode": 3}),
    ("batch-efa", {"JobQueue/SchedulingPolicyArn": SHARES, "JobDefinition/SchedulingPriority": 0}),
    ("batch-efa", {"JobQueue/SchedulingPolicyArn": {"Fn::If": ["Shared", SHARES, {"Ref": "AWS::NoValue"}]}}),
    ("batch-efa", {f"{JOB}/ResourceRequirements": DROP, f"{JOB}/Vcpus": 8, f"{JOB}/Memory": 4096}),
    ("batch-efa", {f"{JOB}/ResourceRequirements": {"Fn::Split": [",", {"Ref": "AWS::StackName"}]}}),
    ("batch-efa", {f"{JOB}/Command": ["x" * 16 * 1024]}),
    ("batch-efa", {"JobDefinition/NodeProperties/NodeRangeProperties/0/TargetNodes": ":"}),
    ("batch-efa", {f"{JOB}/ResourceRequirements/1/Value": "507821"}),
    ("batch-efa", {f"{JOB}/Image": "train@sha256:" + "0" * 64}),
    (
        "batch-efa",
        {
            f"{JOB}/Image": {
                "Fn::Sub": "${AWS::AccountId}.dkr.ecr.us-east-2.amazonaws.com/train:${AWS::StackName}"
            }
        },
    ),
)


@pytest.mark.parametrize(
    ("code", "base", "edits"), BROKEN, ids=lambda value: value if isinstance(value, str) else ""
)
def test_edit_breaks_the_rule(
    foreign: dict[str, Source], code: str, base: str, edits: dict[str, Any]
) -> None:
    assert code in codes_after(foreign, base, edits)


@pytest.mark.parametrize(("base", "edits"), KEPT, ids=str)
def test_edit_within_the_rules_breaks_none(
    foreign: dict[str, Source], base: str, edits: dict[str, Any]
) -> None:
    assert codes_after(foreign, base, edits) == []


@pytest.mark.parametrize(
    ("ranges", "wrong"),
    [
        (["0", "1:"], ""),
        (["0:1", "1"], ""),
        ([":0", "1:1"], ""),
        (["0"], "no range has node 1 of 2"),
        (["1"], "no range has node 0 of 2"),
        (["0", "2"], "got '2', and the job has 2 nodes"),
        (["0:2"], "got '0:2', and the job has 2 nodes"),
    ],
)
def test_ranges_of_first_and_last_node_or_of_one_cover_every_node(ranges: list[str], wrong: str) -> None:
    parts = [{"TargetNodes": nodes} for nodes in ranges]
    nodes = {"MainNode": 0, "NumNodes": 2, "NodeRangeProperties": parts}
    job = {"Type": "AWS::Batch::JobDefinition", "Properties": {"Type": "multinode", "NodeProperties": nodes}}
    found = check_templates([Source(name="it", body={"Resources": {"Job": job}})]).findings
    problems = [each.problem for each in found if each.code == "UC6404"]

    assert problems[:1] == ([wrong] if wrong else [])
