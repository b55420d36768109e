"""Resource types that are recorded only."""

from typing import Any

import pytest

pytestmark = pytest.mark.slow


def test_known_type_without_a_provider_is_recorded_and_its_status_reason_states_it(stacks: Any) -> None:
    template = {
        "Resources": {"Key": {"Type": "AWS::EFS::FileSystem", "Properties": {"Encrypted": True}}},
        "Outputs": {"Id": {"Value": {"Fn::GetAtt": ["Key", "FileSystemId"]}}},
    }
    assert stacks.create("one", template) == "CREATE_COMPLETE"
    assert stacks.outputs("one")["Id"] == stacks.ids("one")["Key"]
    events = stacks.api.describe_stack_events(StackName="one")["StackEvents"]
    said = {one.get("ResourceStatusReason", "") for one in events if one["LogicalResourceId"] == "Key"}
    assert any(reason.startswith("Recorded only") for reason in said)
    assert stacks.delete("one") == "DELETE_COMPLETE"


def test_properties_of_a_recorded_type_are_checked(stacks: Any) -> None:
    wrong = {"Type": "AWS::PCS::Cluster", "Properties": {"Size": "HUGE"}}
    with pytest.raises(Exception, match="HUGE is not a valid enum value"):
        stacks.create("one", {"Resources": {"Cluster": wrong}})
