"""Functions and state machines that rules and schedules call, also by an alias."""

from typing import Any

import pytest

from ultracluster_checks.model.template import Source, Templates
from ultracluster_checks.workers import triggers

RESOURCES: dict[str, Any] = {
    "Drain": {"Type": "AWS::Lambda::Function", "Properties": {}},
    "Live": {"Type": "AWS::Lambda::Alias", "Properties": {"FunctionName": {"Ref": "Drain"}}},
    "Steps": {"Type": "AWS::StepFunctions::StateMachine", "Properties": {}},
    "Topic": {"Type": "AWS::SNS::Topic", "Properties": {}},
}


def called(*targets: Any, schedule: bool = False) -> list[tuple[str, str]]:
    """Return which source calls which worker, for the ARNs of targets."""
    if schedule:
        source = {"Type": "AWS::Scheduler::Schedule", "Properties": {"Target": {"Arn": targets[0]}}}
    else:
        several = [{"Id": str(number), "Arn": arn} for number, arn in enumerate(targets)]
        source = {"Type": "AWS::Events::Rule", "Properties": {"Targets": several}}
    templates = Templates([Source(name="it", body={"Resources": RESOURCES | {"Each": source}})])
    return [(each.source.logical_id, each.worker.logical_id) for each in triggers(templates)]


@pytest.mark.parametrize("schedule", [False, True])
@pytest.mark.parametrize(
    ("arn", "worker"),
    [
        ({"Fn::GetAtt": ["Drain", "Arn"]}, "Drain"),
        ({"Ref": "Live"}, "Drain"),
        ({"Ref": "Steps"}, "Steps"),
    ],
)
def test_a_target_is_the_function_or_state_machine_behind_it(arn: Any, worker: str, schedule: bool) -> None:
    assert called(arn, schedule=schedule) == [("Each", worker)]


def test_other_targets_call_nothing() -> None:
    assert called({"Ref": "Topic"}, "arn:aws:lambda:us-east-2:111122223333:function:other") == []


def test_each_target_of_a_rule_is_a_trigger() -> None:
    arns = ({"Fn::GetAtt": ["Drain", "Arn"]}, {"Ref": "Steps"})
    assert called(*arns) == [("Each", "Drain"), ("Each", "Steps")]
