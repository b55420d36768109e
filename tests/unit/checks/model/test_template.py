"""Resources and properties of templates as the rules see them."""

from typing import Any

import pytest
from tests.unit.checks.judged_values import judged

from ultracluster_checks import Source


def test_no_value_is_as_if_it_were_not_there() -> None:
    value = judged({"list": [{"Ref": "AWS::NoValue"}, 1], "gone": {"Ref": "AWS::NoValue"}})

    assert [item.number for item in value["list"].items] == [1]
    assert value["gone"].missing
    assert value["never"]["at"]["all"].missing


def test_the_region_of_a_file_alone_is_not_known() -> None:
    assert judged({"Ref": "AWS::Region"}, region=None).text is None


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


def test_a_property_has_its_position() -> None:
    assert str(judged({"a": [1, {"b": 2}]})["a"].items[1]["b"]) == "It.Properties.value.a[1].b"
