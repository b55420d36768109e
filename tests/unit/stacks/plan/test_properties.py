from typing import Any

import pytest
from tests.unit.stacks.plan.small_stacks import stack, topic

from ultracluster_stacks.plan import Action, StackTemplate, compare


def test_an_unchanged_statement_of_a_template_is_not_reported_again() -> None:
    def stacks(name: str, prefix: str) -> list[StackTemplate]:
        return [stack(T=topic(TopicName=name), U=topic(DisplayName={"Fn::Sub": prefix + "${T}"}))]

    changes = compare(stacks("a", "x"), stacks("b", "y")).stacks[0].changes

    assert [(one.path, one.cause) for one in changes[1].properties] == [(("DisplayName",), "")]


def test_another_spelling_of_one_value_counts_only_where_it_could_replace() -> None:
    def spelled(name: Any) -> StackTemplate:
        return stack(N=topic(), T=topic(DisplayName=name, TopicName=name, FifoTopic=False))

    (change,) = compare([spelled({"Fn::Sub": "${N}"})], [spelled({"Ref": "N"})]).stacks[0].changes

    assert change.action is Action.MAY_REPLACE
    assert [(one.path, one.replaces) for one in change.properties] == [(("TopicName",), None)]


@pytest.mark.parametrize(
    ("name", "was", "becomes", "replaces"),
    [
        ("DeletionPolicy", None, "Retain", False),
        ("UpdateReplacePolicy", "Retain", None, False),
        ("UpdatePolicy", {"A": 1}, {"A": 2}, False),
        ("CreationPolicy", {"A": {"Ref": "X"}}, None, False),
        ("Condition", "Sometimes", "Never", None),
    ],
)
def test_a_change_of_an_attribute_beside_the_properties_is_listed_too(
    name: str, was: Any, becomes: Any, *, replaces: bool | None
) -> None:
    before, after = (topic() | ({name: value} if value else {}) for value in (was, becomes))

    (change,) = compare([stack(T=before)], [stack(T=after)]).stacks[0].changes

    (found,) = change.properties
    assert (found.path, found.before, found.after, found.replaces) == ((name,), was, becomes, replaces)


def test_another_type_is_a_change_that_replaces() -> None:
    queue = {"Type": "AWS::SQS::Queue", "Properties": {}}

    (change,) = compare([stack(T=topic())], [stack(T=queue)]).stacks[0].changes

    (found,) = change.properties
    assert (found.path, found.before, found.after) == (("Type",), "AWS::SNS::Topic", "AWS::SQS::Queue")
    assert found.replaces is True
