"""State machines: definitions that are whole, with rights and time for their tasks."""

import json
from typing import Any

import pytest

from ultracluster_checks import Source, check_templates

SUBMIT = "arn:aws:states:::batch:submitJob.sync"
WAITING = ["batch:SubmitJob", "batch:DescribeJobs", "batch:TerminateJob", "events:PutTargets", "events:PutRule", "events:DescribeRule"]  # fmt: skip
STOP: dict[str, Any] = {"Stop": {"Type": "Succeed"}}


def codes(definition: dict[str, Any], *, actions: list[str] = WAITING, on: Any = "*", text: bool = False, kind: str = "STANDARD", substitutions: dict[str, str] | None = None) -> set[str]:  # fmt: skip
    """Return the codes for a state machine beside a job for 8 vCPUs and 3,600 seconds, and a queue of small nodes."""
    allowed = {"Statement": [{"Effect": "Allow", "Action": actions, "Resource": on}]}
    trust = {"Statement": [{"Effect": "Allow", "Principal": {"Service": "states.amazonaws.com"}, "Action": "sts:AssumeRole"}]}  # fmt: skip
    requests = [{"Type": "VCPU", "Value": "8"}, {"Type": "MEMORY", "Value": "2048"}]
    resources = {"Type": "EC2", "MaxvCpus": 64, "InstanceTypes": ["m7i.large"]}
    body = {
        "Job": {"Type": "AWS::Batch::JobDefinition", "Properties": {"Timeout": {"AttemptDurationSeconds": 3600}, "ContainerProperties": {"ResourceRequirements": requests}}},
        "Small": {"Type": "AWS::Batch::ComputeEnvironment", "Properties": {"Type": "MANAGED", "ComputeResources": resources}},
        "Large": {"Type": "AWS::Batch::ComputeEnvironment", "Properties": {"Type": "MANAGED", "ComputeResources": resources | {"InstanceTypes": ["m7i.4xlarge"]}}},
        "Queue": {"Type": "AWS::Batch::JobQueue", "Properties": {"ComputeEnvironmentOrder": [{"Order": 1, "ComputeEnvironment": {"Ref": "Small"}}]}},
        "Function": {"Type": "AWS::Lambda::Function", "Properties": {"Timeout": 300}},
        "Role": {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": trust, "Policies": [{"PolicyDocument": allowed}]}},
    }  # fmt: skip
    written = (
        {"DefinitionString": {"Fn::Sub": json.dumps(definition)}} if text else {"Definition": definition}
    )
    more = {"StateMachineType": kind, "DefinitionSubstitutions": substitutions or {}}
    properties = {"RoleArn": {"Fn::GetAtt": ["Role", "Arn"]}, **written, **more}
    machine = {"Machine": {"Type": "AWS::StepFunctions::StateMachine", "Properties": properties}}
    report = check_templates([Source(name="it", body={"Resources": body | machine}, region="us-east-2")])
    return {each.code for each in report.findings}


def task(resource: str = SUBMIT, **more: Any) -> dict[str, Any]:
    return {"StartAt": "Go", "States": {"Go": {"Type": "Task", "Resource": resource, "End": True, **more}}}


BROKEN: tuple[tuple[str, dict[str, Any], dict[str, Any]], ...] = (
    ("UC6460", {"StartAt": "Begin", "States": STOP}, {}),
    ("UC6460", {"StartAt": "Stop", "States": {"Stop": {"Type": "Pass"}}}, {}),
    ("UC6460", {"StartAt": "One", "States": {"One": {"Type": "Pass", "Next": "Two"}}}, {}),
    ("UC6460", {"StartAt": "One", "States": {"One": {"Type": "Choice", "Default": "Two", "Choices": []}}}, {}),
    ("UC6460", {"StartAt": "All", "States": {"All": {"Type": "Map", "End": True, "ItemProcessor": {"StartAt": "Do", "States": {"Do": {"Type": "Pass", "Next": "All"}}}}}}, {}),
    ("UC6460", {"StartAt": "Stop", "States": {**STOP, "Lost": {"Type": "Pass", "Next": "Stop"}}}, {}),
    ("UC6466", task(), {"substitutions": {"Unused": "it"}}),
    ("UC6461", {"TimeoutSeconds": 300, "StartAt": "Wait", "States": {"Wait": {"Type": "Wait", "Seconds": 300, "End": True}}}, {}),
    ("UC6461", {"StartAt": "Wait", "States": {"Wait": {"Type": "Wait", "Seconds": 300, "End": True}}}, {"kind": "EXPRESS"}),
    ("UC6461", task(TimeoutSeconds=3599, Parameters={"JobDefinition": {"Ref": "Job"}}), {}),
    ("UC6461", task(TimeoutSeconds=3599, Parameters={"JobDefinition": "${Job}"}), {"text": True}),
    ("UC6461", {"TimeoutSeconds": 60} | task(TimeoutSeconds=61), {}),
    ("UC6461", task(TimeoutSeconds=60, HeartbeatSeconds=60), {}),
    ("UC6461", task("arn:aws:states:::lambda:invoke", TimeoutSeconds=299, Parameters={"FunctionName": {"Ref": "Function"}}), {"actions": ["lambda:InvokeFunction"]}),
    ("UC6436", task(), {"actions": WAITING[:3]}),
    ("UC6436", task(), {"actions": WAITING[:1] + WAITING[2:]}),
    ("UC6436", task(Parameters={"JobQueue": {"Ref": "Queue"}}), {"on": {"Fn::Sub": "arn:aws:batch:us-east-2:${AWS::AccountId}:job-definition/*"}}),
    ("UC6436", task("arn:aws:states:::aws-sdk:ec2:terminateInstances"), {}),
    ("UC6407", task(Parameters={"JobQueue": {"Ref": "Queue"}, "JobDefinition": {"Ref": "Job"}}), {}),
)  # fmt: skip
KEPT: tuple[tuple[dict[str, Any], dict[str, Any]], ...] = (
    ({"StartAt": "Stop", "States": STOP}, {}),
    ({"StartAt": "One", "States": {"One": {"Type": "Choice", "Default": "Stop", "Choices": [{"Next": "Stop"}]}, **STOP}}, {}),
    ({"StartAt": "Go", "States": {"Go": {"Type": "Pass", "Comment": "${Used}", "Next": "Stop"}, **STOP}}, {"substitutions": {"Used": "it"}}),
    ({"TimeoutSeconds": 301, "StartAt": "Wait", "States": {"Wait": {"Type": "Wait", "Seconds": 300, "End": True}}}, {}),
    ({"StartAt": "Wait", "States": {"Wait": {"Type": "Wait", "Seconds": 299, "End": True}}}, {"kind": "EXPRESS"}),
    (task(TimeoutSeconds=3600, HeartbeatSeconds=3599, Parameters={"JobDefinition": {"Ref": "Job"}}), {}),
    (task(TimeoutSeconds=3600, Parameters={"JobDefinition": "${Job}"}), {"text": True}),
    (task(SUBMIT.removesuffix(".sync"), TimeoutSeconds=60, Parameters={"JobDefinition": {"Ref": "Job"}}), {"actions": WAITING[:1]}),
    (task("arn:aws:states:::lambda:invoke", TimeoutSeconds=300, Parameters={"FunctionName": {"Ref": "Function"}}), {"actions": ["lambda:*"]}),
    (task("arn:aws:states:::aws-sdk:ec2:terminateInstances"), {"actions": ["ec2:Terminate*"]}),
)  # fmt: skip


@pytest.mark.parametrize(("code", "definition", "more"), BROKEN)
def test_a_definition_with_a_defect_breaks_the_rule(code: str, definition: dict[str, Any], more: dict[str, Any]) -> None:  # fmt: skip
    assert code in codes(definition, **more)


@pytest.mark.parametrize(("definition", "more"), KEPT)
def test_a_definition_within_the_rules_keeps_them(definition: dict[str, Any], more: dict[str, Any]) -> None:
    assert codes(definition, **more) & {"UC6407", "UC6436", "UC6460", "UC6461"} == set()
