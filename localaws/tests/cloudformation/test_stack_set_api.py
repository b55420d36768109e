"""StackSets: one template, a stack in each of several Regions."""

import json
from typing import Any

import pytest
from tests.refusals import refusal

from ultracluster_local import ACCOUNT, LocalAws

pytestmark = pytest.mark.slow

SETTING = {
    "Type": "AWS::SSM::Parameter",
    "Properties": {"Type": "String", "Name": "setting", "Value": {"Ref": "Value"}},
}
TEMPLATE = json.dumps(
    {
        "Parameters": {"Value": {"Type": "String", "Default": "default"}},
        "Resources": {"Setting": SETTING},
    }
)
REGIONS = ["us-east-1", "us-east-2"]


@pytest.fixture
def admin(local_aws: LocalAws) -> Any:
    client = local_aws.client("cloudformation")
    client.create_stack_set(StackSetName="settings", TemplateBody=TEMPLATE)
    return client


def create(admin: Any, *regions: str, **more: Any) -> str:
    answer = admin.create_stack_instances(
        StackSetName="settings", Accounts=[ACCOUNT], Regions=list(regions or REGIONS), **more
    )
    return str(answer["OperationId"])


def delete(admin: Any, *regions: str, retain: bool = False) -> str:
    answer = admin.delete_stack_instances(
        StackSetName="settings", Accounts=[ACCOUNT], Regions=list(regions or REGIONS), RetainStacks=retain
    )
    return str(answer["OperationId"])


def results(admin: Any, operation: str) -> dict[str, str]:
    found = admin.list_stack_set_operation_results(StackSetName="settings", OperationId=operation)[
        "Summaries"
    ]
    return {one["Region"]: one["Status"] for one in found}


def setting(local_aws: LocalAws, region: str) -> str:
    return str(local_aws.client("ssm", region).get_parameter(Name="setting")["Parameter"]["Value"])


def test_each_region_gets_a_stack_with_the_parameters_that_override_those_of_the_set(
    admin: Any, local_aws: LocalAws
) -> None:
    create(admin, "us-east-1")
    create(admin, "us-east-2", ParameterOverrides=[{"ParameterKey": "Value", "ParameterValue": "own"}])

    assert [setting(local_aws, region) for region in REGIONS] == ["default", "own"]
    listed = admin.list_stack_instances(StackSetName="settings")["Summaries"]
    assert [(one["Region"], one["Status"]) for one in listed] == [(region, "CURRENT") for region in REGIONS]
    described = admin.describe_stack_instance(
        StackSetName="settings", StackInstanceAccount=ACCOUNT, StackInstanceRegion="us-east-2"
    )["StackInstance"]
    assert [one["ParameterValue"] for one in described["ParameterOverrides"]] == ["own"]


def test_the_first_failure_cancels_the_regions_after_it(admin: Any, local_aws: LocalAws) -> None:
    local_aws.client("ssm", "us-east-2").put_parameter(Name="setting", Value="taken", Type="String")

    operation = create(admin, "us-east-1", "us-east-2", "us-west-2")

    assert results(admin, operation) == {
        "us-east-1": "SUCCEEDED",
        "us-east-2": "FAILED",
        "us-west-2": "CANCELLED",
    }
    shown = admin.describe_stack_set_operation(StackSetName="settings", OperationId=operation)
    assert (shown["StackSetOperation"]["Action"], shown["StackSetOperation"]["Status"]) == (
        "CREATE",
        "FAILED",
    )


def test_a_region_that_has_its_stack_gets_no_second_one(admin: Any, local_aws: LocalAws) -> None:
    create(admin, "us-east-1")

    assert results(admin, create(admin, "us-east-1")) == {}
    assert len(local_aws.client("cloudformation").describe_stacks()["Stacks"]) == 1


def test_stacks_are_deleted_or_only_forgotten(admin: Any, local_aws: LocalAws) -> None:
    create(admin)

    delete(admin, "us-east-1")
    delete(admin, "us-east-2", retain=True)

    assert admin.list_stack_instances(StackSetName="settings")["Summaries"] == []
    left = [local_aws.client("cloudformation", region).describe_stacks()["Stacks"] for region in REGIONS]
    assert [len(one) for one in left] == [0, 1]


def test_a_set_with_stacks_cannot_be_deleted(admin: Any) -> None:
    create(admin, "us-east-1")
    assert refusal(admin.delete_stack_set, StackSetName="settings")[0] == "StackSetNotEmptyException"

    delete(admin, "us-east-1")
    admin.delete_stack_set(StackSetName="settings")
    assert refusal(admin.describe_stack_set, StackSetName="settings")[0] == "StackSetNotFoundException"


def test_a_set_is_described_with_its_template_and_settings(local_aws: LocalAws) -> None:
    client = local_aws.client("cloudformation")
    given = [{"ParameterKey": "Value", "ParameterValue": "set"}]
    client.create_stack_set(
        StackSetName="more", TemplateBody=TEMPLATE, Parameters=given, Capabilities=["CAPABILITY_IAM"]
    )

    found = client.describe_stack_set(StackSetName="more")["StackSet"]

    assert (found["TemplateBody"], found["Capabilities"]) == (TEMPLATE, ["CAPABILITY_IAM"])
    assert [one["ParameterValue"] for one in found["Parameters"]] == ["set"]


@pytest.mark.parametrize(
    ("call", "given", "code"),
    [
        ("create_stack_set", {"TemplateBody": TEMPLATE}, "NameAlreadyExistsException"),
        ("create_stack_set", {"StackSetName": "x", "TemplateBody": TEMPLATE, "PermissionModel": "SERVICE_MANAGED"}, "ValidationError"),
        ("create_stack_set", {"StackSetName": "x", "TemplateBody": "{}"}, "ValidationError"),
        ("create_stack_instances", {"Accounts": ["111111111111"], "Regions": REGIONS}, "ValidationError"),
        ("create_stack_instances", {"Regions": REGIONS}, "ValidationError"),
        ("delete_stack_instances", {"Accounts": [ACCOUNT], "Regions": REGIONS, "RetainStacks": True}, "StackInstanceNotFoundException"),
        ("describe_stack_instance", {"StackInstanceAccount": ACCOUNT, "StackInstanceRegion": "us-east-1"}, "StackInstanceNotFoundException"),
        ("describe_stack_set_operation", {"OperationId": "none"}, "OperationNotFoundException"),
    ],
)  # fmt: skip
def test_what_a_set_cannot_do_is_refused(admin: Any, call: str, given: dict[str, Any], code: str) -> None:
    assert refusal(getattr(admin, call), **{"StackSetName": "settings"} | given)[0] == code
