from pathlib import Path
from typing import Any

import pytest

from ultracluster_stacks.plan import Action, StackState, StackTemplate, compare, read_template


def stack(
    name: str = "s", *, outputs: Any = None, assembly: Path | None = None, **resources: Any
) -> StackTemplate:
    template = {"Resources": resources, "Outputs": outputs or {}}
    return StackTemplate(cluster="c", name=name, region="us-east-2", template=template, assembly=assembly)


def topic(**properties: Any) -> dict[str, Any]:
    return {"Type": "AWS::SNS::Topic", "Properties": properties}


def test_a_stack_is_new_same_changed_or_left() -> None:
    before = [stack("same", T=topic()), stack("changed", T=topic()), stack("left", T=topic())]
    after = [stack("same", T=topic()), stack("changed", T=topic(DisplayName="x")), stack("new", T=topic())]

    states = {one.name: one.state for one in compare(before, after).stacks}

    assert states == {
        "same": StackState.SAME,
        "changed": StackState.CHANGED,
        "new": StackState.NEW,
        "left": StackState.LEFT,
    }


def test_a_stack_of_the_same_name_in_another_region_is_another_one() -> None:
    one = stack(T=topic())
    other = StackTemplate(cluster="c", name="s", region="eu-north-1", template=one.template)

    assert [each.state for each in compare([one], [other]).stacks] == [StackState.NEW, StackState.LEFT]


def test_a_retained_resource_is_let_go_and_another_one_deleted() -> None:
    kept = topic() | {"DeletionPolicy": "Retain"}

    changes = compare([stack(A=topic(), B=kept, C=topic())], [stack(C=topic(), D=topic())]).stacks[0].changes

    assert [(one.logical_id, one.action, one.leaves_behind) for one in changes] == [
        ("D", Action.ADD, False),
        ("A", Action.REMOVE, False),
        ("B", Action.RETAIN, True),
    ]
    # Whoever retains a topic says that it holds something; one without the policy may go.
    assert [[str(stop.kind) for stop in one.stops] for one in changes] == [[], [], ["data"]]


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


def test_an_export_that_nobody_imports_may_change() -> None:
    export = {"Id": {"Value": {"Ref": "T"}, "Export": {"Name": "first:Id"}}}

    plan = compare(
        [stack(outputs=export, T=topic(TopicName="a"))], [stack(outputs=export, T=topic(TopicName="b"))]
    )

    assert list(plan.stops()) == []


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


def test_names_the_files_of_code_that_change(tmp_path: Path) -> None:
    def built(hash_letter: str, **files: str) -> StackTemplate:
        folder = tmp_path / hash_letter
        asset = folder / f"asset.{hash_letter}"
        asset.mkdir(parents=True)
        for name, text in files.items():
            (asset / f"{name}.py").write_text(text)
        listed = {hash_letter * 64: {"source": {"path": asset.name}}}
        (folder / "s.assets.json").write_text(f'{{"files": {str(listed).replace(chr(39), chr(34))}}}')
        function = {
            "Type": "AWS::Lambda::Function",
            "Properties": {"Code": {"S3Key": f"{hash_letter * 64}.zip"}},
        }
        return stack(assembly=folder, F=function)

    old, new, same = built("a", one="1", two="2"), built("b", one="1", two="3"), built("c", one="1", two="2")

    assert compare([old], [new]).stacks[0].changes[0].notes == ("the code changes: two.py",)
    assert "every file is the same" in compare([old], [same]).stacks[0].changes[0].notes[0]
    unknown = StackTemplate(cluster="c", name="s", region="us-east-2", template=old.template)
    assert compare([unknown], [new]).stacks[0].changes[0].notes == ("the code changes",)


@pytest.mark.parametrize(
    "text",
    ['{"Resources": {"T": {"Type": "AWS::SNS::Topic"}}}', "Resources:\n  T:\n    Type: AWS::SNS::Topic\n"],
)
def test_reads_json_and_yaml(text: str) -> None:
    assert read_template(text) == {"Resources": {"T": {"Type": "AWS::SNS::Topic"}}}


def test_a_version_of_a_policy_stays_text_in_yaml() -> None:
    assert read_template("Version: 2012-10-17\nResources: {}")["Version"] == "2012-10-17"


@pytest.mark.parametrize("text", ["[]", "{}", "Resources: [", "Resources: !Ref x", ""])
def test_refuses_what_is_no_template(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - any message of the parser
        read_template(text)
