"""The native build of the engine that the CDK validates with says what the CDK would say, or leaves it to the CDK."""

import json
import re
import tarfile
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from ultracluster_stacks.synthesis import native_validation
from ultracluster_stacks.synthesis.native_validation import (
    IGNORED_RULES,
    NativeValidation,
    ValidationFailedError,
)

_TOPIC: dict[str, Any] = {"Type": "AWS::SNS::Topic", "Properties": {"TopicName": "jobs"}}


@cache
def _in_the_cdk(name: str) -> str:
    """Return a file of the Node package in aws-cdk-lib."""
    (package,) = (each for each in files("aws_cdk._jsii").iterdir() if each.name.endswith(".jsii.tgz"))
    with tarfile.open(str(package)) as archive:
        file = archive.extractfile(f"package/{name}")
        assert file is not None
        return file.read().decode()


def _assembly(folder: Path, **resources: dict[str, Any]) -> Path:
    (folder / "S.template.json").write_text(json.dumps({"Resources": resources}))
    stack = {
        "type": "aws:cloudformation:stack",
        "environment": "aws://unknown-account/us-east-2",
        "properties": {"templateFile": "S.template.json"},
    }
    (folder / "manifest.json").write_text(
        json.dumps({"artifacts": {"S": stack, "S.assets": {"type": "other"}}})
    )
    return folder


def test_templates_in_which_the_engine_finds_nothing_pass(tmp_path: Path) -> None:
    NativeValidation().require(_assembly(tmp_path, Topic=_TOPIC))


@pytest.mark.parametrize(
    "topic",
    [
        _TOPIC | {"Properties": {"TopicNames": "jobs"}},
        _TOPIC | {"Type": "AWS::SNS::Topics"},
        _TOPIC | {"Properties": {"TopicName": {"Ref": "Nothing"}}},
    ],
)
def test_templates_in_which_the_engine_finds_something_do_not(tmp_path: Path, topic: dict[str, Any]) -> None:
    with pytest.raises(ValidationFailedError):
        NativeValidation().require(_assembly(tmp_path, Topic=topic))


def test_a_rule_that_the_cdk_leaves_out_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = _TOPIC | {"Properties": {"TopicName": {"Ref": "Topic"}}, "DependsOn": "Topic"}  # W3005: twice
    assembly = _assembly(tmp_path, Topic=_TOPIC, Other=other)
    NativeValidation().require(assembly)

    monkeypatch.setattr(native_validation, "IGNORED_RULES", ())
    with pytest.raises(ValidationFailedError):
        NativeValidation().require(assembly)


def test_an_engine_that_does_not_start_leaves_all_to_the_cdk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def start() -> None:
        raise OSError("version `GLIBC_2.34' not found")

    monkeypatch.setattr(native_validation, "_start_engine", start)

    with pytest.raises(ValidationFailedError):
        NativeValidation().require(_assembly(tmp_path, Topic=_TOPIC))


@pytest.mark.slow
def test_the_rules_left_out_are_those_of_aws_cdk_lib() -> None:
    plugin = _in_the_cdk("core/lib/validation/cloudformation-validate-plugin.js")
    ignored = re.search(r"IGNORE_RULES=new Set\(\[([^]]*)\]\)", plugin)
    services = re.search(r"services:\[([^]]*)\]", plugin)

    assert ignored
    assert json.loads(f"[{ignored[1]}]") == list(IGNORED_RULES)
    assert services
    assert services[1] == '{ruleId:"W3697",service:"AWS::AutoScaling"}'


@pytest.mark.slow
def test_the_engine_is_as_new_as_that_of_aws_cdk_lib() -> None:
    theirs = json.loads(_in_the_cdk("node_modules/@aws/cloudformation-validate/package.json"))["version"]

    assert _numbers(version("cloudformation-validate")) >= _numbers(theirs)


def _numbers(text: str) -> list[int]:
    return [int(number) for number in text.split(".")]
