"""Stacks of a cloud assembly are read by cluster."""

import json
from pathlib import Path
from typing import Any

import pytest

from ultracluster_cli._cdk.assembly import AssemblyStack, read_assembly


def write_manifest(directory: Path, artifacts: dict[str, Any]) -> None:
    directory.mkdir(exist_ok=True)
    (directory / "manifest.json").write_text(json.dumps({"version": "55.0.0", "artifacts": artifacts}))


def stage(name: str) -> dict[str, Any]:
    return {
        "type": "cdk:cloud-assembly",
        "properties": {"directoryName": f"assembly-{name}", "displayName": name},
    }


def stack(name: str, region: str) -> dict[str, Any]:
    return {
        "type": "aws:cloudformation:stack",
        "environment": f"aws://unknown-account/{region}",
        "properties": {"stackName": name},
    }


def test_lists_the_stacks_of_every_stage(tmp_path: Path) -> None:
    write_manifest(
        tmp_path, {"Tree": {"type": "cdk:tree"}, "a": stage("a-us-east-2"), "b": stage("b-eu-north-1")}
    )
    write_manifest(
        tmp_path / "assembly-a-us-east-2", {"N1": stack("a-Network", "us-east-2"), "X": {"type": "cdk:tree"}}
    )
    write_manifest(tmp_path / "assembly-b-eu-north-1", {"N2": stack("b-Network", "eu-north-1")})

    assert read_assembly(tmp_path) == [
        AssemblyStack(cluster="a-us-east-2", name="a-Network", region="us-east-2"),
        AssemblyStack(cluster="b-eu-north-1", name="b-Network", region="eu-north-1"),
    ]


def test_an_assembly_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"manifest\.json"):
        read_assembly(tmp_path)
