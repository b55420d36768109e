"""Change sets are named, kept, executed and refused as CloudFormation does."""

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError
from tests.cloudformation.planned_changes import changes, plan, template


@pytest.mark.slow
def test_no_change_fails_with_the_words_that_the_cdk_looks_for(stacks: Any) -> None:
    stacks.create("one", template())
    found = plan(stacks, template())
    assert found["Status"] == "FAILED"
    assert "didn't contain changes" in found["StatusReason"]
    with pytest.raises(ClientError, match="cannot be executed"):
        stacks.api.execute_change_set(StackName="one", ChangeSetName="plan")


@pytest.mark.slow
def test_plan_of_a_new_stack_creates_nothing_until_it_is_executed(stacks: Any) -> None:
    found = plan(stacks, template(), kind="CREATE")
    assert {one["Action"] for one in changes(found).values()} == {"Add"}
    assert stacks.status("one") == "REVIEW_IN_PROGRESS"
    assert stacks.local.client("ec2").describe_launch_templates()["LaunchTemplates"] == []
    stacks.api.execute_change_set(StackName="one", ChangeSetName="plan")
    assert stacks.status("one") == "CREATE_COMPLETE"
    # localstack/localstack, tests/aws/services/cloudformation/api/test_stacks.snapshot.json
    (shown,) = stacks.api.describe_stacks(StackName="one")["Stacks"]
    assert (shown["ChangeSetId"], "LastUpdatedTime" in shown) == (found["ChangeSetId"], True)
    stacks.api.delete_stack(StackName="one")
    (shown,) = stacks.api.describe_stacks(StackName=shown["StackId"])["Stacks"]
    assert {"Capabilities", "ChangeSetId", "EnableTerminationProtection"}.isdisjoint(shown)


@pytest.mark.slow
def test_what_is_shown_is_what_happens(stacks: Any) -> None:
    stacks.create("one", template())
    before = stacks.ids("one")
    wanted = template(image="ami-00000000000000002", cidr="10.0.2.0/24")
    found = changes(plan(stacks, wanted))
    stacks.api.execute_change_set(StackName="one", ChangeSetName="plan")
    after = stacks.ids("one")
    replaced = {name for name in before if before[name] != after[name]}
    assert replaced == {name for name, one in found.items() if one["Replacement"] == "True"}
    updated = {name for name, status in stacks.events("one") if status == "UPDATE_COMPLETE"} - {"one"}
    assert updated == set(found)


@pytest.mark.slow
def test_change_sets_of_the_same_name_belong_to_their_stacks(stacks: Any) -> None:
    stacks.create("one", template())
    stacks.create("two", {"Resources": {"Topic": {"Type": "AWS::SNS::Topic"}}})
    plan(stacks, template(image="ami-00000000000000002"))
    other = {"Resources": {"Queue": {"Type": "AWS::SQS::Queue"}}}
    stacks.api.create_change_set(StackName="two", ChangeSetName="plan", TemplateBody=json.dumps(other))
    assert sorted(changes(stacks.api.describe_change_set(StackName="two", ChangeSetName="plan"))) == [
        "Queue",
        "Topic",
    ]
    stacks.api.delete_change_set(StackName="two", ChangeSetName="plan")
    with pytest.raises(ClientError) as caught:
        stacks.api.describe_change_set(StackName="two", ChangeSetName="plan")
    assert caught.value.response["Error"]["Code"] == "ChangeSetNotFound"
    assert (
        stacks.api.describe_change_set(StackName="one", ChangeSetName="plan")["Status"] == "CREATE_COMPLETE"
    )
