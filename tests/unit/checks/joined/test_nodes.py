"""Resources joined by their references."""

from typing import Any

from ultracluster_checks import Source
from ultracluster_checks.joined.nodes import differ, environments_of, known_blocks, nodes_of
from ultracluster_checks.template import Templates
from ultracluster_checks.values import Reference, Text, Unknown

LAUNCH = {"LaunchTemplateId": {"Ref": "Nodes"}, "Version": "1"}
BLOCK = {
    "InstanceMarketOptions": {"MarketType": "capacity-block"},
    "CapacityReservationSpecification": {
        "CapacityReservationTarget": {"CapacityReservationId": {"Ref": "Block"}}
    },
}


def templates(**resources: Any) -> Templates:
    body = {
        "Parameters": {"Block": {"Type": "String"}},
        "Resources": {
            "Nodes": {"Type": "AWS::EC2::LaunchTemplate", "Properties": {"LaunchTemplateData": BLOCK}},
            "Environment": {
                "Type": "AWS::Batch::ComputeEnvironment",
                "Properties": {"ComputeResources": {"Type": "EC2", "LaunchTemplate": LAUNCH}},
            },
            **resources,
        },
    }
    return Templates([Source(name="it", body=body)])


def test_an_environment_and_its_launch_template_are_one_thing() -> None:
    (nodes,) = nodes_of(templates())

    assert (nodes.owner.logical_id, nodes.template and nodes.template.logical_id) == ("Environment", "Nodes")
    assert nodes.in_batch
    assert nodes.in_block


def test_a_parameter_that_nodes_are_launched_into_is_a_block() -> None:
    assert known_blocks(templates()) == (Unknown("Block"),)


def test_a_reservation_that_block_events_name_is_a_block() -> None:
    pattern = {"detail-type": ["Capacity Block Delivered"], "detail": {"capacity-reservation-id": ["cr-1"]}}
    rule = {"Type": "AWS::Events::Rule", "Properties": {"EventPattern": pattern}}

    assert "cr-1" in known_blocks(templates(Warned=rule))


def test_a_launch_template_of_elsewhere_leaves_settings_unknown() -> None:
    far = {"LaunchTemplateId": {"Fn::ImportValue": "nodes"}}
    group = {"Type": "AWS::AutoScaling::AutoScalingGroup", "Properties": {"LaunchTemplate": far}}
    nodes = nodes_of(templates(Group=group))[1]

    assert nodes.template is None
    assert not nodes.data.missing


def test_a_queue_with_an_environment_of_elsewhere_is_not_known() -> None:
    def queue(*names: str) -> dict[str, Any]:
        order = [{"Order": place, "ComputeEnvironment": {"Ref": name}} for place, name in enumerate(names)]
        return {"Type": "AWS::Batch::JobQueue", "Properties": {"ComputeEnvironmentOrder": order}}

    found = templates(Known=queue("Environment"), Mixed=queue("Environment", "Block"))

    assert [each.logical_id for each in environments_of(found.all[0].resources["Known"]) or ()] == [
        "Environment"
    ]
    assert environments_of(found.all[0].resources["Mixed"]) is None


def test_only_what_is_known_on_both_sides_differs() -> None:
    assert differ("cr-1", "cr-2")
    assert differ(Reference(0, "One"), Reference(0, "Other"))
    assert not differ(Reference(0, "One", "Arn"), Reference(0, "One"))
    assert not differ("cr-1", Unknown("Block"))
    assert not differ("cr-1", Text(("cr-", Unknown("Block"))))
