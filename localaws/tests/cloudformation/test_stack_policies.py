"""Stack policies."""

import json
from typing import Any

import pytest
from tests.refusals import refusal

from ultracluster_local.cloudformation.errors import ResourceError
from ultracluster_local.cloudformation.stack_policies import refuse_denied

ALLOW: dict[str, Any] = {"Effect": "Allow", "Action": "Update:*", "Principal": "*", "Resource": "*"}
DENY = ALLOW | {"Effect": "Deny"}


def denied(*statements: dict[str, Any], action: str = "Update:Modify") -> str:
    try:
        refuse_denied(json.dumps({"Statement": statements}), action, "Topic", "AWS::SNS::Topic")
    except ResourceError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    ("statement", "refused"),
    [
        ({}, True),
        ({"Action": "Update:Delete"}, False),
        ({"Action": ["Update:Delete", "Update:Modify"]}, True),
        ({"Resource": "LogicalResourceId/Other"}, False),
        ({"Resource": "LogicalResourceId/To*"}, True),
        ({"Condition": {"StringEquals": {"ResourceType": ["AWS::SQS::Queue"]}}}, False),
        ({"Condition": {"StringLike": {"ResourceType": ["AWS::SNS::*"]}}}, True),
    ],
)
def test_a_statement_denies_what_it_names(statement: dict[str, Any], *, refused: bool) -> None:
    said = denied(ALLOW, DENY | statement)

    assert ("Action denied by stack policy: Statement [#2] does not allow [Update:Modify]" in said) is refused


def test_what_no_statement_allows_is_denied() -> None:
    other = {key: part for key, part in ALLOW.items() if key != "Resource"}

    assert denied(ALLOW | {"Action": "Update:Delete"}) == "Action not allowed by stack policy"
    assert denied(other | {"NotResource": "LogicalResourceId/Topic"}) == "Action not allowed by stack policy"
    assert denied(other | {"NotResource": "LogicalResourceId/Other"}) == ""


@pytest.mark.deploy
def test_a_policy_holds_until_an_update_sets_it_aside(stacks: Any) -> None:
    def template(*names: str, shown: str = "a") -> dict[str, Any]:
        topic = {"Type": "AWS::SNS::Topic", "Properties": {"DisplayName": shown}}
        return {"Resources": dict.fromkeys(names, topic)}

    policy = json.dumps({"Statement": [DENY]})
    stacks.create("one", template("A", "B"), StackPolicyBody=policy)

    assert stacks.update("one", template("A", "B", shown="b")) == "UPDATE_ROLLBACK_COMPLETE"
    assert stacks.update("one", template("A")) == "UPDATE_ROLLBACK_COMPLETE"
    assert set(stacks.ids("one")) == {"A", "B"}
    meanwhile = json.dumps({"Statement": [ALLOW]})
    assert stacks.update("one", template("A"), StackPolicyDuringUpdateBody=meanwhile) == "UPDATE_COMPLETE"
    assert stacks.api.get_stack_policy(StackName="one")["StackPolicyBody"] == policy
    assert stacks.update("one", template("A", shown="b")) == "UPDATE_ROLLBACK_COMPLETE"


@pytest.mark.deploy
@pytest.mark.parametrize("text", ["{", "{}", "[]", json.dumps({"Statement": DENY | {"Principal": "me"}})])
def test_a_policy_is_one(stacks: Any, text: str) -> None:
    stacks.create("one", {"Resources": {"Topic": {"Type": "AWS::SNS::Topic"}}})

    asked = {"StackName": "one", "StackPolicyBody": text}
    assert "Invalid stack policy" in refusal(stacks.api.set_stack_policy, **asked)[1]
