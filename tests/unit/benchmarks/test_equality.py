"""Whether two assemblies hold the same resources, whatever these are called."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from equality import differences, resources_of

ROLE = {"Type": "AWS::IAM::Role", "Properties": {"Description": "nodes"}}


def write(root: Path, **templates: dict[str, Any]) -> Path:
    root.mkdir()
    for name, template in templates.items():
        (root / f"{name}.template.json").write_text(json.dumps(template))
    return root


def base() -> dict[str, Any]:
    return {
        "Resources": {
            "Role": {**copy.deepcopy(ROLE), "Metadata": {"aws:cdk:path": "a"}},
            "Profile": {"Type": "AWS::IAM::InstanceProfile", "Properties": {"Roles": [{"Ref": "Role"}]}},
            "Bucket": {"Type": "AWS::S3::Bucket", "DeletionPolicy": "Retain", "DependsOn": ["Role"]},
        }
    }


def test_names_of_resources_and_their_division_into_stacks_do_not_matter(tmp_path: Path) -> None:
    ours = write(tmp_path / "ours", one=base())
    role = {"Outputs": {"O": {"Value": {"Ref": "R"}, "Export": {"Name": "role"}}}, "Resources": {"R": ROLE}}
    rest = {
        "Resources": {
            "P": {
                "Type": "AWS::IAM::InstanceProfile",
                "Properties": {"Roles": [{"Fn::ImportValue": "role"}]},
            },
            "B": {"Type": "AWS::S3::Bucket", "DeletionPolicy": "Retain"},
        }
    }

    assert differences(ours, write(tmp_path / "theirs", a=role, b=rest)) == []
    assert len(resources_of(ours)) == 3


def _other_value(resources: dict[str, Any]) -> None:
    resources["Role"]["Properties"]["Description"] = "other"


def _other_target(resources: dict[str, Any]) -> None:
    resources["Other"] = {**ROLE, "Properties": {"Description": "other"}}
    resources["Profile"]["Properties"]["Roles"] = [{"Ref": "Other"}]


def _other_attribute(resources: dict[str, Any]) -> None:
    resources["Profile"]["Properties"]["Roles"] = [{"Fn::GetAtt": ["Role", "Arn"]}]


def _one_less(resources: dict[str, Any]) -> None:
    del resources["Bucket"]


def _twice(resources: dict[str, Any]) -> None:
    resources["Again"] = resources["Bucket"]


def _not_kept(resources: dict[str, Any]) -> None:
    del resources["Bucket"]["DeletionPolicy"]


@pytest.mark.parametrize(
    "change", [_other_value, _other_target, _other_attribute, _one_less, _twice, _not_kept]
)
def test_every_difference_that_matters_is_seen(
    tmp_path: Path, change: Callable[[dict[str, Any]], None]
) -> None:
    theirs = base()
    change(theirs["Resources"])
    assert theirs != base()

    assert differences(write(tmp_path / "ours", t=base()), write(tmp_path / "theirs", t=theirs)) != []
