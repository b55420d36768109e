"""Parameters and conditions decide what is created."""

from typing import Any

import pytest
from botocore.exceptions import ClientError
from tests.cloudformation.small_templates import group

pytestmark = pytest.mark.slow


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


def test_a_network_that_a_parameter_names_exists(local_aws: Any, stacks: Any) -> None:
    template = {"Parameters": {"Net": {"Type": "AWS::EC2::VPC::Id"}}, "Resources": {"Logs": group(1)}}
    network = local_aws.client("ec2", stacks.region).create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    stacks.create("one", template, Parameters=[{"ParameterKey": "Net", "ParameterValue": network}])
    assert list(stacks.ids("one")) == ["Logs"]
    absent = [{"ParameterKey": "Net", "ParameterValue": "vpc-0123456789abcdef0"}]
    stacks.create("two", template, Parameters=absent)
    assert stacks.ids("two") == {}
    reasons = [
        event.get("ResourceStatusReason", "")
        for event in stacks.api.describe_stack_events(StackName="two")["StackEvents"]
    ]
    refused = "parameter value vpc-0123456789abcdef0 for parameter name Net does not exist."
    assert f"Parameter validation failed: {refused} Rollback requested by user." in reasons
