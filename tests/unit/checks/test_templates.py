"""What a value of a template is known to be."""

import time
from typing import Any

import pytest

from ultracluster_checks import Source
from ultracluster_checks.template import Property, Templates

PARAMETERS = {
    "Type": {"Type": "String", "Default": "trn2.48xlarge"},
    "Nodes": {"Type": "Number", "Default": 4},
    "Zones": {"Type": "CommaDelimitedList", "Default": "a, b"},
    "Given": {"Type": "String"},
    "Image": {"Type": "AWS::SSM::Parameter::Value<AWS::EC2::Image::Id>", "Default": "/ami"},
}


def judged(value: Any, *, region: str | None = "us-east-2", further: tuple[Source, ...] = ()) -> Property:
    body = {
        "Parameters": PARAMETERS,
        "Mappings": {"Zone": {"us-east-2": {"id": "use2-az3"}}},
        "Resources": {
            "It": {"Type": "T", "Properties": {"value": value}},
            "Bucket": {"Type": "AWS::S3::Bucket"},
        },
    }
    templates = Templates([Source(name="it", body=body, region=region), *further])
    return templates.all[0].resources["It"]["value"]


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


def test_no_value_is_as_if_it_were_not_there() -> None:
    value = judged({"list": [{"Ref": "AWS::NoValue"}, 1], "gone": {"Ref": "AWS::NoValue"}})

    assert [item.number for item in value["list"].items] == [1]
    assert value["gone"].missing
    assert value["never"]["at"]["all"].missing


def test_the_region_of_a_file_alone_is_not_known() -> None:
    assert judged({"Ref": "AWS::Region"}, region=None).text is None


def test_a_text_shows_its_gaps() -> None:
    text = judged({"Fn::Sub": "s3://${Bucket}/${Given}/${Bucket.Arn}"})

    assert text.text is None
    assert text.pattern == "s3://${Bucket}/${Given}/${Bucket.Arn}"


@pytest.mark.parametrize(
    "value", [{"Ref": "Bucket"}, {"Fn::GetAtt": "Bucket.Arn"}, {"Fn::GetAtt": ["Bucket", "Arn"]}]
)
def test_a_reference_leads_to_its_resource(value: Any) -> None:
    target = judged(value).target

    assert target is not None
    assert target.logical_id == "Bucket"


def _exporter(name: str, value: Any) -> Source:
    outputs = {"It": {"Value": value, "Export": {"Name": name}}}
    return Source(name="other", body={"Resources": {"Vpc": {"Type": "AWS::EC2::VPC"}}, "Outputs": outputs})


def test_what_one_template_exports_another_knows() -> None:
    target = judged({"Fn::ImportValue": "vpc"}, further=(_exporter("vpc", {"Ref": "Vpc"}),)).target

    assert target is not None
    assert (target.type, target.template.number) == ("AWS::EC2::VPC", 1)


def test_exports_in_a_circle_are_unknown() -> None:
    circle = _exporter("vpc", {"Fn::ImportValue": "vpc"})

    assert judged({"Fn::ImportValue": "vpc"}, further=(circle,)).text is None


@pytest.mark.parametrize(
    ("value", "number"), [(4, 4), ("4", 4), (4.0, 4), ("4.0", 4), (True, None), (4.5, None), ("four", None)]
)
def test_a_number_may_be_written_as_text(value: Any, number: int | None) -> None:
    assert judged(value).number == number


@pytest.mark.parametrize(
    ("value", "flag"), [(True, True), ("true", True), ("False", False), (1, None), ("yes", None)]
)
def test_yes_and_no_may_be_written_as_text(value: Any, flag: bool | None) -> None:
    assert judged(value).flag is flag


def test_a_property_says_where_it_is() -> None:
    assert str(judged({"a": [1, {"b": 2}]})["a"].items[1]["b"]) == "It.Properties.value.a[1].b"


def test_a_long_text_of_openings_is_read_in_no_time() -> None:
    started = time.process_time()

    assert judged({"Fn::Sub": "${" * 300_000}).text is not None
    assert time.process_time() - started < 2
