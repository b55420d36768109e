"""Resources joined by their references."""

from typing import Any

import pytest

from ultracluster_checks import Source
from ultracluster_checks.model.nodes import (
    batch_nodes,
    differ,
    environment_types,
    environments_of,
    known_blocks,
    launch_template_of,
    nodes_of,
    template_types,
    users_of,
)
from ultracluster_checks.model.template import Resource, Templates
from ultracluster_checks.model.values import Reference, Text, Unknown

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


@pytest.mark.parametrize("reservation", [{"Fn::Unheard": "of"}, {"Fn::If": ["Maybe", "cr-1"]}])
def test_a_reservation_of_which_nothing_is_known_is_none_that_others_could_name(reservation: Any) -> None:
    pattern = {
        "detail-type": ["Capacity Block Delivered"],
        "detail": {"capacity-reservation-id": [reservation]},
    }
    rule = {"Type": "AWS::Events::Rule", "Properties": {"EventPattern": pattern}}

    assert known_blocks(templates(Warned=rule)) == (Unknown("Block"),)


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


def resources(**bodies: Any) -> dict[str, Resource]:
    (template,) = Templates([Source(name="it", body={"Resources": bodies})]).all
    return template.resources


def launch_template(**data: Any) -> dict[str, Any]:
    properties = {"LaunchTemplateName": "nodes", "LaunchTemplateData": data}
    return {"Type": "AWS::EC2::LaunchTemplate", "Properties": properties}


def environment(
    *types: Any, kind: str = "EC2", template: Any = None, by: str = "LaunchTemplateId"
) -> dict[str, Any]:
    compute: dict[str, Any] = {"Type": kind, "InstanceTypes": list(types)}
    if template is not None:
        compute["LaunchTemplate"] = {by: template}
    return {"Type": "AWS::Batch::ComputeEnvironment", "Properties": {"ComputeResources": compute}}


@pytest.mark.parametrize(("kind", "found"), [("EC2", 1), ("SPOT", 1), ("FARGATE", 0), ("FARGATE_SPOT", 0)])
def test_only_environments_on_ec2_are_considered(kind: str, found: int) -> None:
    those = Templates([Source(name="it", body={"Resources": {"It": environment(kind=kind)}})])

    assert len(batch_nodes(those)) == found


@pytest.mark.parametrize(
    ("reference", "by", "found"),
    [
        ({"Ref": "Nodes"}, "LaunchTemplateId", True),
        ({"Ref": "Nodes"}, "LaunchTemplateName", True),
        ("nodes", "LaunchTemplateName", True),
        ("others", "LaunchTemplateName", False),
        ("lt-0123456789abcdef0", "LaunchTemplateId", False),
    ],
)
def test_launch_template_is_found_by_reference_or_name(reference: Any, by: str, found: bool) -> None:
    its = resources(Nodes=launch_template(), It=environment(template=reference, by=by))

    assert launch_template_of(its["It"]) is (its["Nodes"] if found else None)
    assert users_of(its["Nodes"]) == ([its["It"]] if found else [])


def test_mixed_instances_policy_of_an_auto_scaling_group_names_its_launch_template() -> None:
    policy = {"LaunchTemplate": {"LaunchTemplateSpecification": {"LaunchTemplateId": {"Ref": "Nodes"}}}}
    group = {"Type": "AWS::AutoScaling::AutoScalingGroup", "Properties": {"MixedInstancesPolicy": policy}}
    its = resources(Nodes=launch_template(), It=group)

    assert launch_template_of(its["It"]) is its["Nodes"]


def test_own_type_of_a_launch_template_comes_before_those_of_its_users() -> None:
    user = environment("trn1.32xlarge", template={"Ref": "Nodes"})
    own = resources(Nodes=launch_template(InstanceType="trn2.48xlarge"), It=user)
    of_users = resources(Nodes=launch_template(), It=user)

    assert [each.name for each in template_types(own["Nodes"])] == ["trn2.48xlarge"]
    assert [each.name for each in template_types(of_users["Nodes"])] == ["trn1.32xlarge"]


@pytest.mark.parametrize("other", ["trn9.48xlarge", {"Ref": "NodeType"}])
def test_types_of_an_environment_are_unknown_if_one_of_them_is(other: Any) -> None:
    known = resources(It=environment("trn1.32xlarge", "trn2.48xlarge"))["It"]

    assert [each.name for each in environment_types(known) or []] == ["trn1.32xlarge", "trn2.48xlarge"]
    assert environment_types(resources(It=environment("trn1.32xlarge", other))["It"]) is None
