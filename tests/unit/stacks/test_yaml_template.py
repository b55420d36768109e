"""A template in YAML is read as CloudFormation reads it, with the line of every value."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.stacks.check.good_template import GOOD

from ultracluster_stacks.check import read_templates
from ultracluster_stacks.yaml_template import read_yaml_template


@pytest.mark.parametrize(
    ("short", "long"),
    [
        ("!Ref A", {"Ref": "A"}),
        ("!Condition A", {"Condition": "A"}),
        ("!GetAtt A.B", {"Fn::GetAtt": "A.B"}),
        ("!GetAtt [A, B]", {"Fn::GetAtt": ["A", "B"]}),
        ("!Sub '${A}'", {"Fn::Sub": "${A}"}),
        ("!Sub ['${A}', {A: 1}]", {"Fn::Sub": ["${A}", {"A": 1}]}),
        ("!Join ['', [a, !Ref B]]", {"Fn::Join": ["", ["a", {"Ref": "B"}]]}),
        ("!Base64 {Ref: A}", {"Fn::Base64": {"Ref": "A"}}),
        ("!If [A, !Ref 'AWS::NoValue', 1]", {"Fn::If": ["A", {"Ref": "AWS::NoValue"}, 1]}),
        ("2010-09-09", "2010-09-09"),
        ("'-1'", "-1"),
        ("-1", -1),
        ("yes", True),
        ("1.5", 1.5),
        ("~", None),
        ("!!str 12", "12"),
        ("!!int '12'", 12),
        ("9" * 5000, "9" * 5000),
    ],
)
def test_a_value_is_read_as_cloudformation_reads_it(short: str, long: Any) -> None:
    assert read_yaml_template(f"a: {short}\n")[0] == {"a": long}


@pytest.mark.parametrize("name", ["it.yaml", "it.json"])
def test_every_value_has_its_line(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(
        json.dumps(GOOD, indent=1)
        if name.endswith("json")
        else "# a\nResources:\n  Bucket:\n    Type: AWS::S3::Bucket\n"
    )
    (source,) = read_templates([path])

    assert source.body == GOOD
    assert source.location(("Resources", "Bucket", "Type")) == f"{path}:4"
    assert source.location(("Resources", "Bucket", "Properties", "x", 0)) == f"{path}:3"


def test_json_that_is_invalid_as_yaml_has_no_lines(tmp_path: Path) -> None:
    path = tmp_path / "it.json"
    path.write_text(json.dumps(GOOD, indent="\t"))
    (source,) = read_templates([path])

    assert source.location(("Resources",)).startswith(str(path))
