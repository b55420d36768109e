"""Values of intrinsic functions."""

from typing import Any

import pytest

from ultracluster_local.cloudformation.errors import ValidationError
from ultracluster_local.cloudformation.templates.intrinsic_functions import NO_VALUE, Scope, resolve


def scope(**changes: Any) -> Scope:
    settings: dict[str, Any] = {
        "region": "us-east-1",
        "pseudo": {"AWS::Region": "us-east-1", "AWS::StackName": "one"},
        "parameters": {"Flag": "yes", "List": ["a", "b"]},
        "mappings": {"Map": {"us-east-1": {"zone": "use1-az4"}}},
        "conditions": {
            "Yes": {"Fn::Equals": [{"Ref": "Flag"}, "yes"]},
            "No": {"Fn::Not": [{"Condition": "Yes"}]},
        },
        "ref": lambda name: f"id-of-{name}",
        "attribute": lambda name, attribute: f"{attribute}-of-{name}",
        "imported": lambda name: f"export-{name}",
        "output": lambda *names: "/".join(names),
        "dynamic": lambda service, key: f"{service}:{key}",
    }
    return Scope(**{**settings, **changes})


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"Ref": "Vpc"}, "id-of-Vpc"),
        ({"Ref": "AWS::Region"}, "us-east-1"),
        ({"Ref": "List"}, ["a", "b"]),
        ({"Fn::GetAtt": ["Vpc", "Arn"]}, "Arn-of-Vpc"),
        ({"Fn::GetAtt": "Vpc.Outputs.Name"}, "Outputs.Name-of-Vpc"),
        (
            {"Fn::Sub": "${Vpc}/${Vpc.Arn}/${AWS::Region}/${!Literal}"},
            "id-of-Vpc/Arn-of-Vpc/us-east-1/${Literal}",
        ),
        ({"Fn::Sub": ["${A}-${Vpc}", {"A": {"Ref": "Flag"}}]}, "yes-id-of-Vpc"),
        ({"Fn::Join": ["-", ["a", {"Ref": "Vpc"}, 1]]}, "a-id-of-Vpc-1"),
        ({"Fn::Join": [",", {"Ref": "List"}]}, "a,b"),
        ({"Fn::Select": [1, {"Fn::Split": [".", "a.b.c"]}]}, "b"),
        ({"Fn::FindInMap": ["Map", {"Ref": "AWS::Region"}, "zone"]}, "use1-az4"),
        ({"Fn::If": ["Yes", 1, 2]}, 1),
        ({"Fn::If": ["No", 1, 2]}, 2),
        ({"Fn::ImportValue": {"Fn::Sub": "${AWS::StackName}:x"}}, "export-one:x"),
        ({"Fn::GetStackOutput": {"StackName": {"Ref": "Flag"}, "OutputName": "x"}}, "yes/x/"),
        ({"Fn::GetStackOutput": {"StackName": "a", "OutputName": "x", "Region": "b"}}, "a/x/b"),
        ({"Fn::Base64": "text"}, "dGV4dA=="),
        ({"Fn::Cidr": ["10.0.0.0/16", 2, 8]}, ["10.0.0.0/24", "10.0.1.0/24"]),
        ({"Fn::ToJsonString": {"a": {"Ref": "Vpc"}}}, '{"a": "id-of-Vpc"}'),
        ({"Fn::Length": {"Ref": "List"}}, 2),
        ({"Fn::GetAZs": ""}, ["us-east-1a", "us-east-1b", "us-east-1c"]),
        ("{{resolve:ssm:/a/b}}", "ssm:/a/b"),
        ({"A": {"Ref": "AWS::NoValue"}, "B": [{"Ref": "AWS::NoValue"}, 1]}, {"B": [1]}),
        ({"A": {"Fn::If": ["No", 1, {"Ref": "AWS::NoValue"}]}}, {}),
        ({"Ref": "Vpc", "Other": 1}, {"Ref": "Vpc", "Other": 1}),
    ],
    ids=str,
)
def test_gives_the_value_of(value: Any, expected: Any) -> None:
    assert resolve(value, scope()) == expected


@pytest.mark.parametrize(
    "value",
    [
        {"Fn::Transform": {}},
        {"Fn::Select": [5, ["a"]]},
        {"Fn::FindInMap": ["Map", "nowhere", "zone"]},
        {"Fn::If": ["Missing", 1, 2]},
    ],
    ids=str,
)
def test_refuses(value: Any) -> None:
    with pytest.raises(ValidationError):
        resolve(value, scope())


def test_no_value_at_the_top_is_marked() -> None:
    assert resolve({"Ref": "AWS::NoValue"}, scope()) is NO_VALUE
