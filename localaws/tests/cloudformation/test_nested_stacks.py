"""Nested stacks."""

import json
from typing import Any

import pytest

pytestmark = pytest.mark.slow

URL = "https://templates.s3.us-east-1.amazonaws.com/child.json"


def keep(stacks: Any, resources: dict[str, Any], **sections: Any) -> None:
    s3 = stacks.local.client("s3")
    s3.create_bucket(Bucket="templates")
    body = json.dumps({"Resources": resources, **sections})
    s3.put_object(Bucket="templates", Key="child.json", Body=body.encode())


def parent(name: str = "inner") -> dict[str, Any]:
    child = {"TemplateURL": URL, "Parameters": {"Name": name}}
    value = {"Fn::GetAtt": ["Child", "Outputs.Arn"]}
    return {
        "Resources": {
            "Child": {"Type": "AWS::CloudFormation::Stack", "Properties": child},
            "Told": {"Type": "AWS::SSM::Parameter", "Properties": {"Type": "String", "Value": value}},
        }
    }


def topic(**properties: Any) -> dict[str, Any]:
    return {"Topic": {"Type": "AWS::SNS::Topic", "Properties": {"TopicName": {"Ref": "Name"}} | properties}}


CHILD = {"Parameters": {"Name": {"Type": "String"}}, "Outputs": {"Arn": {"Value": {"Ref": "Topic"}}}}


def told(stacks: Any) -> str:
    found = stacks.local.client("ssm").get_parameter(Name=stacks.ids("one")["Told"])
    return str(found["Parameter"]["Value"])


def test_a_nested_stack_lives_with_its_parent(stacks: Any) -> None:
    keep(stacks, topic(), **CHILD)

    assert stacks.create("one", parent()) == "CREATE_COMPLETE"
    child = stacks.ids("one")["Child"]
    assert stacks.describe(child)["ParentId"] == stacks.describe("one")["StackId"]
    assert told(stacks).endswith(":inner")
    assert stacks.update("one", parent("other")) == "UPDATE_COMPLETE"
    assert stacks.ids("one")["Child"] == child
    assert told(stacks).endswith(":other")
    assert stacks.delete("one") == "DELETE_COMPLETE"
    assert stacks.status(child) == "DELETE_COMPLETE"
    assert stacks.local.client("sns").list_topics()["Topics"] == []


def test_an_update_reaches_a_template_that_changed_at_its_address(stacks: Any) -> None:
    keep(stacks, topic(), **CHILD)
    stacks.create("one", parent())
    keep(stacks, topic(DisplayName="new"), **CHILD)

    assert stacks.update("one", parent()) == "UPDATE_COMPLETE"
    arn = told(stacks)
    shown = stacks.local.client("sns").get_topic_attributes(TopicArn=arn)["Attributes"]
    assert shown["DisplayName"] == "new"


def test_a_nested_stack_that_fails_goes_with_its_parent(stacks: Any) -> None:
    keep(stacks, topic(TopicName="a b"), **CHILD)

    assert stacks.create("one", parent()) == "ROLLBACK_COMPLETE"
    statuses = {one["StackStatus"] for one in stacks.api.list_stacks()["StackSummaries"]}
    assert statuses == {"ROLLBACK_COMPLETE", "DELETE_COMPLETE"}


def test_a_failed_update_brings_parent_and_child_back(stacks: Any) -> None:
    keep(stacks, topic(), **CHILD)
    stacks.create("one", parent())

    assert stacks.update("one", parent("a b")) == "UPDATE_ROLLBACK_COMPLETE"
    assert told(stacks).endswith(":inner")
    assert stacks.status(stacks.ids("one")["Child"]) == "UPDATE_ROLLBACK_COMPLETE"


def test_capabilities_of_the_parent_are_those_of_its_children(stacks: Any) -> None:
    keep(stacks, {"Topic": {"Type": "AWS::IAM::Group"}}, **CHILD)

    assert stacks.create("one", parent(), Capabilities=[]) == "ROLLBACK_COMPLETE"
    assert "Requires capabilities : [CAPABILITY_IAM]" in str(
        stacks.api.describe_stack_events(StackName="one")["StackEvents"]
    )
    assert stacks.create("two", parent(), Capabilities=["CAPABILITY_IAM"]) == "CREATE_COMPLETE"
