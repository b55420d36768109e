"""Stacks of a Region and what they export to each other."""

from typing import Any

import pytest
from botocore.exceptions import ClientError
from tests.cloudformation.small_templates import group, parameter

pytestmark = pytest.mark.slow

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


def test_exporter_can_go_after_its_importer(stacks: Any) -> None:
    stacks.create("exporter", EXPORTER)
    stacks.create("importer", IMPORTER)
    assert stacks.delete("importer") == "DELETE_COMPLETE"
    assert stacks.delete("exporter") == "DELETE_COMPLETE"
    assert stacks.api.list_exports()["Exports"] == []


def test_import_without_an_export_fails(stacks: Any) -> None:
    assert stacks.create("importer", IMPORTER) == "ROLLBACK_COMPLETE"
    assert "No export named name found" in str(stacks.reasons("importer"))


def test_an_output_is_read_from_a_stack_of_any_region(stacks: Any) -> None:
    read = {"StackName": "exporter", "OutputName": "Name", "Region": stacks.api.meta.region_name}
    reader = {"Resources": {"User": parameter({"Fn::GetStackOutput": read})}}
    west = type(stacks)(stacks.local, "us-west-2")
    assert west.create("early", reader) == "ROLLBACK_COMPLETE"
    stacks.create("exporter", EXPORTER)
    assert west.create("reader", reader) == "CREATE_COMPLETE"
    assert stacks.delete("exporter") == "DELETE_COMPLETE"


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


def test_a_list_of_stacks_has_their_summaries_by_status(stacks: Any) -> None:
    stacks.create("kept", {"Description": "Logs", "Resources": {"Logs": group(1)}})
    stacks.create("gone", {"Resources": {"Setting": parameter("a")}})
    stacks.delete("gone")

    (kept,) = stacks.api.list_stacks(StackStatusFilter=["CREATE_COMPLETE"])["StackSummaries"]

    assert (kept["StackName"], kept["TemplateDescription"]) == ("kept", "Logs")
    listed = stacks.api.list_stacks()["StackSummaries"]
    assert {one["StackName"]: one["StackStatus"] for one in listed} == {
        "kept": "CREATE_COMPLETE",
        "gone": "DELETE_COMPLETE",
    }


def test_a_resource_has_its_time_in_each_of_its_descriptions(stacks: Any) -> None:
    stacks.create("one", {"Resources": {"Logs": group(1)}})

    (described,) = stacks.api.describe_stack_resources(StackName="one")["StackResources"]
    (listed,) = stacks.api.list_stack_resources(StackName="one")["StackResourceSummaries"]
    detail = stacks.api.describe_stack_resource(StackName="one", LogicalResourceId="Logs")[
        "StackResourceDetail"
    ]

    assert described["Timestamp"] == listed["LastUpdatedTimestamp"] == detail["LastUpdatedTimestamp"]
    assert described["StackName"] == detail["StackName"] == "one"
