"""Functions of CloudFormation, worked out as far as the templates allow."""

import time
from typing import Any

import pytest
from tests.unit.checks.judged_values import judged

from ultracluster_checks import Source
from ultracluster_checks.model.template import Templates


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"Ref": "Type"}, "trn2.48xlarge"),
        ({"Ref": "Nodes"}, "4"),
        ({"Ref": "AWS::Region"}, "us-east-2"),
        ({"Ref": "AWS::Partition"}, "aws"),
        ({"Fn::Sub": "${Type} in ${AWS::Region}, ${!Literal}"}, "trn2.48xlarge in us-east-2, ${Literal}"),
        ({"Fn::Sub": ["${a}-${Nodes}", {"a": {"Ref": "Type"}}]}, "trn2.48xlarge-4"),
        ({"Fn::Join": ["-", ["x", {"Ref": "Nodes"}, True]]}, "x-4-true"),
        ({"Fn::Select": ["1", {"Ref": "Zones"}]}, "b"),
        ({"Fn::Select": [0, {"Fn::Split": ["-", "c-d"]}]}, "c"),
        ({"Fn::FindInMap": ["Zone", {"Ref": "AWS::Region"}, "id"]}, "use2-az3"),
        ({"Fn::If": ["Any", "same", "same"]}, "same"),
        ({"Fn::Base64": {"Fn::Sub": "#!${Type}"}}, "#!trn2.48xlarge"),
    ],
)
def test_a_function_is_worked_out(value: Any, text: str) -> None:
    assert judged(value).text == text


@pytest.mark.parametrize(
    "value",
    [
        {"Ref": "Given"},
        {"Ref": "Image"},
        {"Ref": "Nobody"},
        {"Ref": ["Type"]},
        {"Ref": "AWS::AccountId"},
        {"Fn::If": ["Any", "one", "other"]},
        {"Fn::If": ["Any", "one", {"Ref": "AWS::NoValue"}]},
        {"Fn::ImportValue": "nobody-exports-it"},
        "{{resolve:ssm:/name}}",
        {"Fn::Join": ["", ["{{resolve:secretsmanager:", {"Ref": "Bucket"}, ":SecretString:a::}}"]]},
        {"Fn::FindInMap": ["Zone", "eu-west-1", "id"]},
        {"Fn::FindInMap": "Zone"},
        {"Fn::Select": [7, {"Ref": "Zones"}]},
        {"Fn::Select": 7},
        {"Fn::Split": ["", "a"]},
        {"Fn::Join": ["-"]},
        {"Fn::Sub": []},
        {"Fn::GetAtt": 7},
        {"Fn::GetAtt": "Nobody.Arn"},
        {"Fn::GetAZs": ""},
        {"Fn::Transform": {"Name": "Macro"}},
    ],
)
def test_what_only_a_deployment_knows_is_unknown_and_not_missing(value: Any) -> None:
    unknown = judged(value)

    assert (unknown.text, unknown.number, unknown.flag, unknown.items, unknown.members) == (
        None,
        None,
        None,
        [],
        [],
    )
    assert not unknown.missing
    assert not unknown.known
    assert not unknown["member"].missing


def test_a_text_shows_its_gaps() -> None:
    text = judged({"Fn::Sub": "s3://${Bucket}/${Given}/${Bucket.Arn}/{{resolve:ssm:${Given}}}}}"})

    assert text.text is None
    assert text.pattern == "s3://${Bucket}/${Given}/${Bucket.Arn}/${resolve.ssm.Given.}}}"


def test_a_long_text_of_openings_is_read_in_no_time() -> None:
    started = time.process_time()

    assert judged({"Fn::Sub": "${" * 300_000}).text is not None
    assert time.process_time() - started < 2


CONDITIONS = {
    "Always": {"Fn::Equals": ["a", "a"]},
    "InRegion": {"Fn::Equals": [{"Ref": "AWS::Region"}, "us-east-2"]},
    "Four": {"Fn::Equals": [{"Ref": "Nodes"}, "4"]},
    "NotFour": {"Fn::Not": [{"Condition": "Four"}]},
    "Both": {"Fn::And": [{"Condition": "Always"}, {"Condition": "Four"}]},
    "Either": {"Fn::Or": [{"Condition": "Given"}, {"Condition": "Four"}]},
    "Given": {"Fn::Equals": [{"Ref": "Given"}, "x"]},
    "Neither": {"Fn::And": [{"Condition": "Given"}, {"Condition": "Always"}]},
    "Filled": {"Fn::Not": [{"Fn::Equals": [{"Ref": "Empty"}, ""]}]},
    "Circle": {"Fn::Not": [{"Condition": "Circle"}]},
}


def chosen(name: str, other: Any = "no") -> Any:
    parameters = {
        "Nodes": {"Type": "Number", "Default": 4},
        "Given": {"Type": "String"},
        "Empty": {"Type": "String", "Default": ""},
    }
    resources = {"It": {"Type": "T", "Properties": {"value": [{"Fn::If": [name, "yes", other]}, "more"]}}}
    body = {"Parameters": parameters, "Conditions": CONDITIONS, "Resources": resources}
    return Templates([Source(name="it", body=body, region="us-east-2")]).all[0].resources["It"]["value"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Always", "yes"),
        ("InRegion", "yes"),
        ("Four", "yes"),
        ("NotFour", "no"),
        ("Both", "yes"),
        ("Either", "yes"),
    ],
)
def test_a_condition_over_defaults_chooses_a_branch(name: str, text: str) -> None:
    assert chosen(name).items[0].text == text


@pytest.mark.parametrize("name", ["Given", "Neither", "Filled", "Circle", "Nobody"])
def test_a_condition_that_only_a_deployment_knows_chooses_none(name: str) -> None:
    assert chosen(name).items[0].text is None


def test_what_a_condition_may_leave_out_is_no_certain_item() -> None:
    nothing = {"Ref": "AWS::NoValue"}

    assert [each.text for each in chosen("Given", nothing).certain] == ["more"]
    assert [each.text for each in chosen("NotFour", nothing).certain] == ["more"]
    assert len(chosen("Always", nothing).certain) == 2
