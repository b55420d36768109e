"""What change sets say before anything is done."""

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError

from ultracluster_local.cloudformation.change_sets import property_changes

INTERFACES = [{"NetworkCardIndex": card, "DeviceIndex": min(card, 1)} for card in range(16)]


def template(image: str = "ami-00000000000000001", cidr: str = "10.0.1.0/24", **rest: Any) -> dict[str, Any]:
    data = {"ImageId": image, "NetworkInterfaces": INTERFACES}
    return {
        "Resources": {
            "Vpc": {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.0.0.0/16"}},
            "Subnet": {
                "Type": "AWS::EC2::Subnet",
                "Properties": {"VpcId": {"Ref": "Vpc"}, "CidrBlock": cidr},
            },
            "Template": {"Type": "AWS::EC2::LaunchTemplate", "Properties": {"LaunchTemplateData": data}},
            "Version": {
                "Type": "AWS::SSM::Parameter",
                "Properties": {
                    "Type": "String",
                    "Value": {"Fn::GetAtt": ["Template", "LatestVersionNumber"]},
                },
            },
            "Place": {
                "Type": "AWS::SSM::Parameter",
                "Properties": {"Type": "String", "Value": {"Ref": "Subnet"}},
            },
            **rest,
        }
    }


def plan(stacks: Any, wanted: dict[str, Any], *, kind: str = "UPDATE", **settings: Any) -> dict[str, Any]:
    text = json.dumps(wanted)
    stacks.api.create_change_set(
        StackName="one", ChangeSetName="plan", ChangeSetType=kind, TemplateBody=text, **settings
    )
    found: dict[str, Any] = stacks.api.describe_change_set(
        StackName="one", ChangeSetName="plan", IncludePropertyValues=True
    )
    return found


def changes(described: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {one["ResourceChange"]["LogicalResourceId"]: one["ResourceChange"] for one in described["Changes"]}


@pytest.mark.deploy
def test_names_the_property_of_a_launch_template_with_its_values(stacks: Any) -> None:
    stacks.create("one", template())
    found = changes(plan(stacks, template(image="ami-00000000000000002")))
    assert sorted(found) == ["Template", "Version"]
    (detail,) = found["Template"]["Details"]
    assert detail["Target"] == {
        "Attribute": "Properties",
        "Name": "LaunchTemplateData",
        "RequiresRecreation": "Never",
        "Path": "/Properties/LaunchTemplateData/ImageId",
        "BeforeValue": "ami-00000000000000001",
        "AfterValue": "ami-00000000000000002",
        "AttributeChangeType": "Modify",
    }
    assert found["Template"]["Replacement"] == "False"


@pytest.mark.deploy
def test_values_that_only_the_deployment_will_know_are_dynamic_and_name_their_cause(stacks: Any) -> None:
    stacks.create("one", template())
    (detail,) = changes(plan(stacks, template(image="ami-00000000000000002")))["Version"]["Details"]
    assert detail["Evaluation"] == "Dynamic"
    assert detail["CausingEntity"] == "Template"
    assert detail["Target"]["AfterValue"] == "{{changeSet:KNOWN_AFTER_APPLY}}"


@pytest.mark.deploy
def test_create_only_property_means_replacement_and_touches_those_that_refer_to_it(stacks: Any) -> None:
    stacks.create("one", template())
    found = changes(plan(stacks, template(cidr="10.0.2.0/24")))
    assert sorted(found) == ["Place", "Subnet"]
    assert found["Subnet"]["Replacement"] == "True"
    assert found["Subnet"]["PolicyAction"] == "ReplaceAndDelete"
    assert found["Place"]["Replacement"] == "False"


@pytest.mark.deploy
def test_added_and_removed_resources_are_listed(stacks: Any) -> None:
    stacks.create("one", template())
    wanted = template(Added={"Type": "AWS::SNS::Topic"})
    del wanted["Resources"]["Place"]
    found = changes(plan(stacks, wanted))
    assert {name: one["Action"] for name, one in found.items()} == {"Added": "Add", "Place": "Remove"}
    assert found["Place"]["PolicyAction"] == "Delete"


@pytest.mark.deploy
def test_no_change_fails_with_the_words_that_the_cdk_looks_for(stacks: Any) -> None:
    stacks.create("one", template())
    found = plan(stacks, template())
    assert found["Status"] == "FAILED"
    assert "didn't contain changes" in found["StatusReason"]
    with pytest.raises(ClientError, match="cannot be executed"):
        stacks.api.execute_change_set(StackName="one", ChangeSetName="plan")


@pytest.mark.deploy
def test_change_of_stack_tags_only_is_a_change(stacks: Any) -> None:
    stacks.create("one", template())
    assert plan(stacks, template(), Tags=[{"Key": "a", "Value": "b"}])["Status"] == "CREATE_COMPLETE"


@pytest.mark.deploy
def test_plan_of_a_new_stack_creates_nothing_until_it_is_executed(stacks: Any) -> None:
    found = plan(stacks, template(), kind="CREATE")
    assert {one["Action"] for one in changes(found).values()} == {"Add"}
    assert stacks.status("one") == "REVIEW_IN_PROGRESS"
    assert stacks.local.client("ec2").describe_launch_templates()["LaunchTemplates"] == []
    stacks.api.execute_change_set(StackName="one", ChangeSetName="plan")
    assert stacks.status("one") == "CREATE_COMPLETE"


@pytest.mark.deploy
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


@pytest.mark.deploy
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


@pytest.mark.deploy
@pytest.mark.parametrize(
    ("replace", "expected"),
    [(None, "True"), (True, "True"), (False, "False")],
    ids=["default", "true", "false"],
)
def test_compute_environment_is_replaced_unless_its_template_says_otherwise(
    stacks: Any, replace: bool | None, expected: str
) -> None:
    ec2 = stacks.local.client("ec2")
    subnet = ec2.describe_subnets()["Subnets"][0]
    groups = ec2.describe_security_groups(Filters=[{"Name": "vpc-id", "Values": [subnet["VpcId"]]}])

    def environment(instance_type: str) -> dict[str, Any]:
        resources = {
            "Type": "EC2",
            "MinvCpus": 0,
            "MaxvCpus": 192,
            "InstanceTypes": [instance_type],
            "InstanceRole": "profile",
            "Subnets": [subnet["SubnetId"]],
            "SecurityGroupIds": [groups["SecurityGroups"][0]["GroupId"]],
        }
        properties: dict[str, Any] = {"Type": "MANAGED", "ComputeResources": resources}
        if replace is not None:
            properties["ReplaceComputeEnvironment"] = replace
        return {
            "Resources": {"Environment": {"Type": "AWS::Batch::ComputeEnvironment", "Properties": properties}}
        }

    stacks.create("one", environment("trn2.48xlarge"))
    found = changes(plan(stacks, environment("trn1.32xlarge")))
    assert found["Environment"]["Replacement"] == expected


def test_property_changes_go_down_to_the_member_and_stop_at_lists_of_other_length() -> None:
    before = {"A": {"B": [1, 2], "C": [1]}, "D": "x"}
    after = {"A": {"B": [1, 3], "C": [1, 2]}, "E": "y"}
    found = {one.path: (one.before, one.after) for one in property_changes(before, after)}
    assert found == {
        ("A", "B", "1"): (2, 3),
        ("A", "C"): ([1], [1, 2]),
        ("D",): ("x", None),
        ("E",): (None, "y"),
    }
