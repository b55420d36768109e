from typing import Any

import pytest
from tests.unit.stacks.plan.small_stacks import stack, topic

from ultracluster_stacks.plan import Action, StackTemplate, compare


def exporting(value: Any, **resources: Any) -> StackTemplate:
    return stack("first", outputs={"Id": {"Value": value, "Export": {"Name": "first:Id"}}}, **resources)


IMPORTER = stack("second", T=topic(TopicName={"Fn::ImportValue": "first:Id"}))
OTHER_IMPORTER = stack("another", T=topic(TopicName={"Fn::ImportValue": "first:Id"}))


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (exporting("a"), exporting("b"), "changes while another, second imports it; CloudFormation would"),
        (exporting("a"), stack("first"), "is removed while another, second imports it; CloudFormation would"),
        (
            exporting({"Fn::GetAtt": ["O", "Id"]}, O={"Type": "Custom::Order", "Properties": {"Size": 1}}),
            exporting({"Fn::GetAtt": ["O", "Id"]}, O={"Type": "Custom::Order", "Properties": {"Size": 2}}),
            "changes while another, second imports it; CloudFormation may",
        ),
    ],
)
def test_an_export_in_use_can_neither_change_nor_go(
    before: StackTemplate, after: StackTemplate, said: str
) -> None:
    importing = [IMPORTER, OTHER_IMPORTER]

    (first, *_) = compare([before, *importing], [after, *importing]).stacks

    assert [(stop.kind, stop.allow, stop.reason) for stop in first.stops] == [
        ("refused", None, f"the export first:Id {said} refuse the update")
    ]


def test_a_new_value_of_an_export_replaces_what_is_named_after_it() -> None:
    plan = compare([exporting("a"), IMPORTER], [exporting("b"), IMPORTER])

    assert [(one.action, one.properties[0].cause) for one in plan.stacks[1].changes] == [
        (Action.REPLACE, "first:Id")
    ]


def test_an_export_that_is_new_moves_nothing() -> None:
    new = {"Id": {"Value": "x", "Export": {"Name": "s:Id"}}}
    user = topic(TopicName={"Fn::ImportValue": "s:Id"})

    plan = compare(
        [stack(T=topic()), stack("u", T=user)], [stack(outputs=new, T=topic()), stack("u", T=user)]
    )

    assert [one.changes for one in plan.stacks] == [(), ()]


def test_a_change_in_place_moves_only_the_attribute_that_counts_versions() -> None:
    def stacks(image: str) -> list[StackTemplate]:
        template = {
            "Type": "AWS::EC2::LaunchTemplate",
            "Properties": {"LaunchTemplateData": {"ImageId": image}},
        }
        version = topic(
            DisplayName={"Fn::Join": ["", ["v", {"Fn::GetAtt": ["L", "LatestVersionNumber"]}]]},
            Tags=[{"Key": "version", "Value": {"Fn::GetAtt": ["L", "LatestVersionNumber"]}}],
        )
        return [stack(L=template, V=version, I=topic(DisplayName={"Ref": "L"}))]

    launch, counted = compare(stacks("ami-1"), stacks("ami-2")).stacks[0].changes

    assert (launch.logical_id, launch.action) == ("L", Action.UPDATE)
    assert (counted.logical_id, counted.action) == ("V", Action.UPDATE)
    assert [(one.path, one.cause, one.replaces) for one in counted.properties] == [
        (("DisplayName",), "L", False),
        (("Tags", "0", "Value"), "L", False),
    ]
    assert counted.properties[1].before == {"Fn::GetAtt": ["L", "LatestVersionNumber"]}
    assert counted.properties[1].after == counted.properties[1].before


def test_a_chain_of_references_and_exports_is_followed_to_its_end() -> None:
    def stacks(name: str) -> list[StackTemplate]:
        export = {"Id": {"Value": {"Ref": "T"}, "Export": {"Name": "first:Id"}}}
        again = {"Id": {"Value": {"Fn::ImportValue": "first:Id"}, "Export": {"Name": "second:Id"}}}
        queue = {"Type": "AWS::SQS::Queue", "Properties": {"QueueName": {"Fn::ImportValue": "second:Id"}}}
        return [
            stack("third", Q=queue),
            stack("second", outputs=again),
            stack("first", outputs=export, T=topic(TopicName=name)),
        ]

    third, second, first = compare(stacks("a"), stacks("b")).stacks

    assert first.changes[0].action is Action.REPLACE
    assert [stop.kind for stop in second.stops] == ["refused"]
    assert (third.changes[0].action, third.changes[0].properties[0].cause) == (Action.REPLACE, "second:Id")


def test_an_export_without_imports_may_change() -> None:
    export = {"Id": {"Value": {"Ref": "T"}, "Export": {"Name": "first:Id"}}}

    (changed,) = compare(
        [stack(outputs=export, T=topic(TopicName="a"))], [stack(outputs=export, T=topic(TopicName="b"))]
    ).stacks

    assert changed.stops == ()


def test_a_revision_of_a_job_definition_reaches_what_names_it() -> None:
    def stacks(attempts: int) -> list[StackTemplate]:
        job = {"Type": "AWS::Batch::JobDefinition", "Properties": {"RetryStrategy": {"Attempts": attempts}}}
        return [stack(J=job, T=topic(DisplayName={"Ref": "J"}))]

    changes = compare(stacks(1), stacks(2)).stacks[0].changes

    assert [(one.logical_id, one.action) for one in changes] == [("J", Action.UPDATE), ("T", Action.UPDATE)]


def test_what_may_be_replaced_makes_others_that_follow_it_uncertain() -> None:
    def stacks(size: int) -> list[StackTemplate]:
        custom = {"Type": "Custom::Order", "Properties": {"Size": size}}
        named = topic(TopicName={"Fn::GetAtt": ["O", "Name"]})
        return [stack(O=custom, T=named)]

    changes = compare(stacks(1), stacks(2)).stacks[0].changes

    assert [one.action for one in changes] == [Action.MAY_REPLACE, Action.MAY_REPLACE]


def test_another_default_of_a_parameter_reaches_what_refers_to_it() -> None:
    def stacks(default: str) -> list[StackTemplate]:
        template = {
            "Parameters": {"Name": {"Type": "String", "Default": default}},
            "Resources": {"T": topic(TopicName={"Ref": "Name"})},
        }
        return [StackTemplate(cluster="c", name="s", region="us-east-2", template=template)]

    assert compare(stacks("a"), stacks("b")).stacks[0].changes[0].action is Action.REPLACE
    assert compare(stacks("a"), stacks("a")).stacks[0].changes == ()


@pytest.mark.parametrize(
    ("source", "reference"),
    [
        ({"Type": "AWS::Batch::JobDefinition", "Properties": {}}, {"Ref": "S"}),
        (
            {"Type": "AWS::EC2::LaunchTemplate", "Properties": {}},
            {"Fn::GetAtt": ["S", "LatestVersionNumber"]},
        ),
    ],
)
def test_a_new_revision_surely_replaces_what_is_named_after_it(
    source: dict[str, Any], reference: dict[str, Any]
) -> None:
    def stacks(tag: str) -> list[StackTemplate]:
        changed = source | {"Properties": {"Tags": {"a": tag}}}
        return [stack(S=changed, T=topic(TopicName=reference))]

    changes = compare(stacks("1"), stacks("2")).stacks[0].changes

    assert [(one.logical_id, one.action) for one in changes] == [("S", Action.UPDATE), ("T", Action.REPLACE)]
