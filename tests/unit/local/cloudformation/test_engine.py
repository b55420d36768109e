"""Stacks: order, update, replacement, rollback, exports, retention, refusals."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

pytestmark = pytest.mark.deploy


def parameter(value: Any, **rest: Any) -> dict[str, Any]:
    return {"Type": "AWS::SSM::Parameter", "Properties": {"Type": "String", "Value": value}, **rest}


def group(days: int, **rest: Any) -> dict[str, Any]:
    return {"Type": "AWS::Logs::LogGroup", "Properties": {"RetentionInDays": days}, **rest}


MISSING_VPC = {
    "Type": "AWS::EC2::Subnet",
    "Properties": {"VpcId": "vpc-00000000000000000", "CidrBlock": "10.0.0.0/24"},
}


def test_creates_in_the_order_of_references_and_depends_on(stacks: Any) -> None:
    template = {
        "Resources": {
            "Last": parameter("x", DependsOn=["Middle"]),
            "Middle": parameter({"Ref": "First"}),
            "First": parameter("y"),
        }
    }
    assert stacks.create("one", template) == "CREATE_COMPLETE"
    done = [name for name, status in stacks.events("one") if status == "CREATE_COMPLETE"]
    assert done == ["First", "Middle", "Last", "one"]


def test_failed_creation_is_rolled_back_with_the_reason_and_leaves_nothing(stacks: Any) -> None:
    template = {"Resources": {"Logs": group(30), "Subnet": {**MISSING_VPC, "DependsOn": "Logs"}}}
    assert stacks.create("one", template) == "ROLLBACK_COMPLETE"
    assert "vpc-00000000000000000" in stacks.reasons("one")["Subnet"]
    assert stacks.local.client("logs").describe_log_groups()["logGroups"] == []


def test_failed_creation_stays_when_rollback_is_disabled(stacks: Any) -> None:
    template = {"Resources": {"Logs": group(30), "Subnet": {**MISSING_VPC, "DependsOn": "Logs"}}}
    assert stacks.create("one", template, DisableRollback=True) == "CREATE_FAILED"
    assert list(stacks.ids("one")) == ["Logs"]
    assert stacks.delete("one") == "DELETE_COMPLETE"


def test_updates_in_place_keep_the_physical_id(stacks: Any) -> None:
    stacks.create("one", {"Resources": {"Logs": group(30)}})
    before = stacks.ids("one")
    assert stacks.update("one", {"Resources": {"Logs": group(7)}}) == "UPDATE_COMPLETE"
    assert stacks.ids("one") == before
    found = stacks.local.client("logs").describe_log_groups()["logGroups"]
    assert [one["retentionInDays"] for one in found] == [7]


def subnet_template(cidr: str) -> dict[str, Any]:
    return {
        "Resources": {
            "Vpc": {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.0.0.0/16"}},
            "Subnet": {
                "Type": "AWS::EC2::Subnet",
                "Properties": {"VpcId": {"Ref": "Vpc"}, "CidrBlock": cidr},
            },
            "User": parameter({"Ref": "Subnet"}),
        }
    }


def test_replacement_makes_the_new_one_first_passes_its_id_on_and_deletes_the_old_one(stacks: Any) -> None:
    stacks.create("one", subnet_template("10.0.1.0/24"))
    old = stacks.ids("one")["Subnet"]
    assert stacks.update("one", subnet_template("10.0.2.0/24")) == "UPDATE_COMPLETE"
    new = stacks.ids("one")["Subnet"]
    assert new != old
    ids = stacks.ids("one")
    value = stacks.local.client("ssm").get_parameter(Name=ids["User"])["Parameter"]["Value"]
    assert value == new
    filters = [{"Name": "vpc-id", "Values": [ids["Vpc"]]}]
    found = stacks.local.client("ec2").describe_subnets(Filters=filters)["Subnets"]
    assert [one["SubnetId"] for one in found] == [new]


def test_replaced_resource_with_the_retain_policy_stays(stacks: Any) -> None:
    first, second = subnet_template("10.0.1.0/24"), subnet_template("10.0.2.0/24")
    for template in (first, second):
        template["Resources"]["Subnet"]["UpdateReplacePolicy"] = "Retain"
    stacks.create("one", first)
    old = stacks.ids("one")["Subnet"]
    stacks.update("one", second)
    assert stacks.local.client("ec2").describe_subnets(SubnetIds=[old])["Subnets"]


def test_failed_update_restores_what_was_updated_replaced_and_added(stacks: Any) -> None:
    template = subnet_template("10.0.1.0/24")
    template["Resources"]["Logs"] = group(30)
    stacks.create("one", template)
    before = stacks.ids("one")
    changed = subnet_template("10.0.2.0/24")
    changed["Resources"] |= {
        "Logs": group(7),
        "Added": group(1),
        "Broken": {**MISSING_VPC, "DependsOn": ["Logs", "Added", "User"]},
    }
    assert stacks.update("one", changed) == "UPDATE_ROLLBACK_COMPLETE"
    assert stacks.ids("one") == before
    found = stacks.local.client("logs").describe_log_groups()["logGroups"]
    assert [one["retentionInDays"] for one in found] == [30]
    subnet = stacks.local.client("ec2").describe_subnets(SubnetIds=[before["Subnet"]])["Subnets"][0]
    assert subnet["CidrBlock"] == "10.0.1.0/24"
    value = stacks.local.client("ssm").get_parameter(Name=before["User"])["Parameter"]["Value"]
    assert value == before["Subnet"]


def test_stack_can_be_updated_after_a_rolled_back_update(stacks: Any) -> None:
    stacks.create("one", {"Resources": {"Logs": group(30)}})
    stacks.update("one", {"Resources": {"Logs": group(7), "Broken": {**MISSING_VPC, "DependsOn": "Logs"}}})
    assert stacks.update("one", {"Resources": {"Logs": group(14)}}) == "UPDATE_COMPLETE"


def test_removed_resources_are_deleted_and_retained_ones_are_not(stacks: Any) -> None:
    stacks.create(
        "one", {"Resources": {"Keep": group(1), "Gone": group(5), "Kept": group(3, DeletionPolicy="Retain")}}
    )
    stacks.update("one", {"Resources": {"Keep": group(1)}})
    found = stacks.local.client("logs").describe_log_groups()["logGroups"]
    assert sorted(one["retentionInDays"] for one in found) == [1, 3]
    assert ("Kept", "DELETE_SKIPPED") in stacks.events("one")


def test_deleting_a_stack_leaves_retained_resources_and_nothing_else(stacks: Any) -> None:
    stacks.create("one", {"Resources": {"Gone": group(5), "Kept": group(3, DeletionPolicy="Retain")}})
    assert stacks.delete("one") == "DELETE_COMPLETE"
    found = stacks.local.client("logs").describe_log_groups()["logGroups"]
    assert [one["retentionInDays"] for one in found] == [3]


def test_failed_deletion_says_what_is_left_and_can_be_tried_again(stacks: Any) -> None:
    stacks.create("one", {"Resources": {"Bucket": {"Type": "AWS::S3::Bucket"}, "Logs": group(1)}})
    bucket = stacks.ids("one")["Bucket"]
    stacks.local.client("s3").put_object(Bucket=bucket, Key="a", Body=b"")
    assert stacks.delete("one") == "DELETE_FAILED"
    assert list(stacks.ids("one")) == ["Bucket"]
    stacks.local.client("s3").delete_object(Bucket=bucket, Key="a")
    assert stacks.delete("one") == "DELETE_COMPLETE"


EXPORTER = {
    "Resources": {"Logs": group(1)},
    "Outputs": {"Name": {"Value": {"Ref": "Logs"}, "Export": {"Name": "name"}}},
}
IMPORTER = {"Resources": {"User": parameter({"Fn::ImportValue": "name"})}}


def test_export_in_use_can_be_neither_deleted_nor_changed(stacks: Any) -> None:
    stacks.create("exporter", EXPORTER)
    assert stacks.create("importer", IMPORTER) == "CREATE_COMPLETE"
    without = {"Resources": EXPORTER["Resources"]}
    assert stacks.update("exporter", without) == "UPDATE_ROLLBACK_COMPLETE"
    assert "in use by importer" in stacks.describe("exporter")["StackStatusReason"]
    assert stacks.delete("exporter") == "DELETE_FAILED"
    assert "in use by importer" in stacks.describe("exporter")["StackStatusReason"]
    assert stacks.api.list_imports(ExportName="name")["Imports"] == ["importer"]


def test_exporter_can_go_after_its_importer(stacks: Any) -> None:
    stacks.create("exporter", EXPORTER)
    stacks.create("importer", IMPORTER)
    assert stacks.delete("importer") == "DELETE_COMPLETE"
    assert stacks.delete("exporter") == "DELETE_COMPLETE"
    assert stacks.api.list_exports()["Exports"] == []


def test_importing_what_nobody_exports_fails(stacks: Any) -> None:
    assert stacks.create("importer", IMPORTER) == "ROLLBACK_COMPLETE"
    assert "No export named name found" in str(stacks.reasons("importer"))


def test_conditions_and_parameters_decide_what_is_created(stacks: Any) -> None:
    template = {
        "Parameters": {"Days": {"Type": "Number", "Default": "1"}, "Wanted": {"Type": "String"}},
        "Conditions": {"Yes": {"Fn::Equals": [{"Ref": "Wanted"}, "yes"]}},
        "Resources": {
            "Always": group({"Ref": "Days"}),  # type: ignore[arg-type]
            "Sometimes": group(5, Condition="Yes"),
        },
        "Outputs": {"Maybe": {"Condition": "Yes", "Value": "x"}},
    }
    no = [{"ParameterKey": "Wanted", "ParameterValue": "no"}]
    stacks.create("one", template, Parameters=no)
    assert list(stacks.ids("one")) == ["Always"]
    assert stacks.outputs("one") == {}
    stacks.update("one", template, Parameters=[{"ParameterKey": "Wanted", "ParameterValue": "yes"}])
    assert sorted(stacks.ids("one")) == ["Always", "Sometimes"]
    previous = [{"ParameterKey": "Wanted", "UsePreviousValue": True}]
    with pytest.raises(ClientError, match="No updates are to be performed"):
        stacks.update("one", template, Parameters=previous)
    stacks.update("one", template, Parameters=no)
    assert list(stacks.ids("one")) == ["Always"]


def test_missing_parameter_is_refused(stacks: Any) -> None:
    template = {"Parameters": {"Wanted": {"Type": "String"}}, "Resources": {"Logs": group(1)}}
    with pytest.raises(ClientError, match=r"Parameters: \[Wanted\] must have values"):
        stacks.create("one", template)


def test_unknown_type_is_refused_before_anything_is_created(stacks: Any) -> None:
    template = {"Resources": {"Logs": group(1), "Other": {"Type": "AWS::Route53::HostedZones"}}}
    with pytest.raises(ClientError, match=r"Unrecognized resource types: \[AWS::Route53::HostedZones\]"):
        stacks.create("one", template)
    assert stacks.api.describe_stacks()["Stacks"] == []
    assert stacks.local.client("logs").describe_log_groups()["logGroups"] == []


def test_known_type_without_a_provider_is_recorded_and_says_so(stacks: Any) -> None:
    template = {
        "Resources": {"Key": {"Type": "AWS::SecretsManager::Secret", "Properties": {"Name": "key"}}},
        "Outputs": {"Id": {"Value": {"Fn::GetAtt": ["Key", "Id"]}}},
    }
    assert stacks.create("one", template) == "CREATE_COMPLETE"
    assert stacks.outputs("one")["Id"] == stacks.ids("one")["Key"]
    events = stacks.api.describe_stack_events(StackName="one")["StackEvents"]
    (said,) = {one.get("ResourceStatusReason") for one in events if one["LogicalResourceId"] == "Key"} - {
        None,
        "Resource creation Initiated",
    }
    assert said.startswith("Recorded only")
    assert stacks.delete("one") == "DELETE_COMPLETE"


def test_unknown_property_is_refused_before_anything_is_created(stacks: Any) -> None:
    wrong = {"Type": "AWS::EC2::LaunchTemplate", "Properties": {"LaunchTemplateData": {"ImageID": "ami-1"}}}
    with pytest.raises(ClientError, match=r"#/LaunchTemplateData: extraneous key \[ImageID\]"):
        stacks.create("one", {"Resources": {"Template": wrong}})
    assert stacks.api.describe_stacks()["Stacks"] == []


def role(path: str) -> dict[str, Any]:
    properties = {
        "RoleName": "mine",
        "Path": path,
        "AssumeRolePolicyDocument": {"Version": "2012-10-17", "Statement": []},
    }
    return {"Resources": {"Role": {"Type": "AWS::IAM::Role", "Properties": properties}}}


def test_custom_named_resource_cannot_be_replaced(stacks: Any) -> None:
    stacks.create("one", role("/"))
    assert stacks.update("one", role("/other/")) == "UPDATE_ROLLBACK_COMPLETE"
    assert "custom-named resource requires replacing. Rename mine" in stacks.reasons("one")["Role"]


def test_update_that_the_local_aws_cannot_do_fails_and_says_so(stacks: Any) -> None:
    stacks.create("one", {"Resources": {"Address": {"Type": "AWS::EC2::EIP"}}})
    attached = {"Type": "AWS::EC2::EIP", "Properties": {"InstanceId": "i-00000000000000000"}}
    assert stacks.update("one", {"Resources": {"Address": attached}}) == "UPDATE_ROLLBACK_COMPLETE"
    said = stacks.reasons("one")["Address"]
    assert "The local AWS cannot update InstanceId of AWS::EC2::EIP in place" in said


def test_termination_protection_stops_the_deletion(stacks: Any) -> None:
    stacks.create("one", {"Resources": {"Logs": group(1)}}, EnableTerminationProtection=True)
    with pytest.raises(ClientError, match="TerminationProtection is enabled"):
        stacks.delete("one")
    stacks.api.update_termination_protection(StackName="one", EnableTerminationProtection=False)
    assert stacks.delete("one") == "DELETE_COMPLETE"


def test_stacks_of_two_regions_do_not_meet(stacks: Any) -> None:
    stacks.create("exporter", EXPORTER)
    west = type(stacks)(stacks.local, "us-west-2")
    assert west.create("importer", IMPORTER) == "ROLLBACK_COMPLETE"
    assert west.create("exporter", EXPORTER) == "CREATE_COMPLETE"
