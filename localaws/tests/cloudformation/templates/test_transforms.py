"""Transforms: the functions of AWS::LanguageExtensions, and what is refused."""

from typing import Any

import pytest

from ultracluster_local.cloudformation.errors import ValidationError
from ultracluster_local.cloudformation.templates.transforms import TransformError, expanded, transforms

EXTENDED = "AWS::LanguageExtensions"


def topic(transform: str = EXTENDED, **more: Any) -> dict[str, Any]:
    return {"Transform": transform, "Resources": {"T": {"Type": "AWS::SNS::Topic", **more}}}


@pytest.mark.parametrize(
    ("template", "words"),
    [
        (topic("Mine"), "No transform named 123456789012::Mine found"),
        (topic("AWS::Include"), "does not run the transform AWS::Include"),
        (
            topic(V={"Fn::ToJsonString": [{"Condition": "C"}]}),
            "Fn::ToJsonString does not support Condition intrinsic function for resource T",
        ),
        (topic(V=[{"Fn::ForEach::All": ["Name", ["A"], {}]}]), "The local AWS does not simulate Fn::ForEach"),
        (topic() | {"Resources": {"Fn::ForEach::All": []}}, "The local AWS does not simulate Fn::ForEach"),
        (topic() | {"Outputs": {"Fn::ForEach::All": []}}, "The local AWS does not simulate Fn::ForEach"),
        (topic(DeletionPolicy={"Ref": "P"}), "The local AWS does not simulate functions in DeletionPolicy"),
        (
            topic(UpdateReplacePolicy={"Ref": "P"}),
            "The local AWS does not simulate functions in UpdateReplacePolicy",
        ),
    ],
)
def test_a_transform_fails_with_its_reason(template: dict[str, Any], words: str) -> None:
    with pytest.raises(TransformError, match=words):
        expanded(template)


@pytest.mark.parametrize(
    "part",
    [
        {"Fn::Sub": "${AWS::Region}"},
        {"Effect": "Deny", "Condition": {"Bool": {"aws:SecureTransport": "false"}}},
    ],
)
def test_text_is_made_of_functions_and_of_statements_with_conditions(part: dict[str, Any]) -> None:
    template = topic(V={"Fn::ToJsonString": [part]})

    assert expanded(template) == {"Resources": template["Resources"]}


def test_transforms_have_names() -> None:
    assert transforms({"Resources": {"A": {"Fn::Transform": {"Name": "Mine"}}}}) == ["Mine"]
    assert transforms({"Transform": [EXTENDED, {"Name": "Mine"}]}) == [EXTENDED, "Mine"]
    with pytest.raises(ValidationError, match="must be a string"):
        transforms({"Resources": {"A": {"Fn::Transform": {"Name": {"Ref": "P"}}}}})
