"""What change sets say before anything is done."""

from typing import Any

import pytest
from tests.cloudformation.planned_changes import changes, plan, template

from ultracluster_local.cloudformation.change_sets.changes import property_changes


@pytest.mark.slow
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


@pytest.mark.slow
def test_values_that_only_the_deployment_will_know_are_dynamic_and_name_their_cause(stacks: Any) -> None:
    stacks.create("one", template())
    (detail,) = changes(plan(stacks, template(image="ami-00000000000000002")))["Version"]["Details"]
    assert detail["Evaluation"] == "Dynamic"
    assert detail["CausingEntity"] == "Template"
    assert detail["Target"]["AfterValue"] == "{{changeSet:KNOWN_AFTER_APPLY}}"


@pytest.mark.slow
def test_create_only_property_means_replacement_and_touches_those_that_refer_to_it(stacks: Any) -> None:
    stacks.create("one", template())
    found = changes(plan(stacks, template(cidr="10.0.2.0/24")))
    assert sorted(found) == ["Place", "Subnet"]
    assert found["Subnet"]["Replacement"] == "True"
    assert found["Subnet"]["PolicyAction"] == "ReplaceAndDelete"
    assert found["Place"]["Replacement"] == "False"


@pytest.mark.slow
def test_added_and_removed_resources_are_listed(stacks: Any) -> None:
    stacks.create("one", template())
    wanted = template(Added={"Type": "AWS::SNS::Topic"})
    del wanted["Resources"]["Place"]
    found = changes(plan(stacks, wanted))
    assert {name: one["Action"] for name, one in found.items()} == {"Added": "Add", "Place": "Remove"}
    assert found["Place"]["PolicyAction"] == "Delete"


@pytest.mark.slow
def test_change_of_stack_tags_only_is_a_change(stacks: Any) -> None:
    stacks.create("one", template())
    assert plan(stacks, template(), Tags=[{"Key": "a", "Value": "b"}])["Status"] == "CREATE_COMPLETE"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("replace", "expected"),
    [(None, "True"), (True, "True"), (False, "False")],
    ids=["default", "true", "false"],
)
def test_compute_environment_is_replaced_unless_its_template_prevents_it(
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
