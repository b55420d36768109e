"""A change set fails before its execution when a name is taken."""

from typing import Any

import pytest
from tests.cloudformation.planned_changes import plan
from tests.refusals import refusal

pytestmark = pytest.mark.slow

TRUST = {"Version": "2012-10-17", "Statement": []}


def resources(kind: str, **properties: Any) -> dict[str, Any]:
    return {"Resources": {"One": {"Type": kind, "Properties": properties}}}


@pytest.mark.parametrize(
    ("kind", "properties"),
    [
        ("AWS::S3::Bucket", {"BucketName": "taken"}),
        ("AWS::IAM::Role", {"RoleName": "taken", "AssumeRolePolicyDocument": TRUST}),
        ("AWS::Logs::LogGroup", {"LogGroupName": "taken"}),
        ("AWS::SSM::Parameter", {"Name": "taken", "Type": "String", "Value": "v"}),
        ("AWS::CloudWatch::Dashboard", {"DashboardName": "taken", "DashboardBody": '{"widgets": []}'}),
        ("AWS::IAM::Group", {"GroupName": "taken"}),
    ],
)
def test_a_change_set_with_a_name_that_is_taken_fails_and_says_which(
    stacks: Any, kind: str, properties: dict[str, Any]
) -> None:
    template = resources(kind, **properties)
    assert stacks.create("one", template) == "CREATE_COMPLETE"
    assert plan(stacks, template)["StatusReason"].startswith(
        "The submitted information didn't contain changes"
    )
    stacks.api.delete_change_set(StackName="one", ChangeSetName="plan")
    template["Resources"]["Two"] = template["Resources"]["One"]
    found = plan(stacks, template)

    assert found["Status"] == "FAILED"
    assert "[AWS::EarlyValidation::ResourceExistenceCheck]" in found["StatusReason"]
    (event,) = stacks.api.describe_events(
        StackName="one", ChangeSetName="plan", Filters={"FailedEvents": True}
    )["OperationEvents"]
    assert (event["LogicalResourceId"], event["ValidationName"]) == ("Two", "NAME_CONFLICT_VALIDATION")
    assert (
        event["ValidationStatusReason"]
        == f"Resource of type '{kind}' with identifier 'taken' already exists."
    )
    assert (
        "cannot be executed"
        in refusal(stacks.api.execute_change_set, StackName="one", ChangeSetName="plan")[1]
    )


def test_a_change_set_with_a_free_or_generated_name_passes(stacks: Any) -> None:
    template = {"Resources": {"One": {"Type": "AWS::S3::Bucket"}, "Two": {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": "free"}}}}  # fmt: skip

    assert plan(stacks, template, kind="CREATE")["Status"] == "CREATE_COMPLETE"
    assert stacks.api.describe_events(StackName="one", ChangeSetName="plan")["OperationEvents"] == []


@pytest.mark.parametrize(("name", "status"), [("alias/one", "FAILED"), ("alias/two", "CREATE_COMPLETE")])
def test_an_alias_is_taken_by_its_name_whatever_its_key(stacks: Any, name: str, status: str) -> None:
    def aliases(**names: str) -> dict[str, Any]:
        made = {
            each: {
                "Type": "AWS::KMS::Alias",
                "Properties": {"AliasName": alias, "TargetKeyId": {"Ref": "Key"}},
            }
            for each, alias in names.items()
        }
        return {"Resources": {"Key": {"Type": "AWS::KMS::Key"}, **made}}

    assert stacks.create("one", aliases(One="alias/one")) == "CREATE_COMPLETE"
    assert plan(stacks, aliases(One="alias/one", Two=name))["Status"] == status


def test_events_are_those_of_a_stack_an_operation_or_a_change_set(stacks: Any) -> None:
    stacks.create("one", resources("AWS::S3::Bucket"))

    shown = stacks.api.describe_events(StackName="one")["OperationEvents"]
    assert {one["EventType"] for one in shown} == {"STACK_EVENT"}
    assert (
        stacks.api.describe_events(StackName="one", Filters={"FailedEvents": True})["OperationEvents"] == []
    )
    for given in ({}, {"ChangeSetName": "plan"}):
        assert refusal(stacks.api.describe_events, **given) == (
            "ValidationError",
            "One of ChangeSetName, OperationId or StackName must be specified",
        )
