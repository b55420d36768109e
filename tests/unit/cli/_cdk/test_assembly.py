"""Artifacts of a cloud assembly are read by their kind."""

import json
from pathlib import Path
from typing import Any

import pytest

from ultracluster_cli._cdk.assembly import artifacts


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


def test_lists_the_artifacts_of_one_kind_without_those_of_stages(tmp_path: Path) -> None:
    write_manifest(tmp_path, {"Tree": {"type": "cdk:tree"}, "a": stage("a-us-east-2")})
    write_manifest(tmp_path / "assembly-a-us-east-2", {"N1": stack("a-Network", "us-east-2")})

    assert dict(artifacts(tmp_path, kind="cdk:cloud-assembly")) == {"a": stage("a-us-east-2")}
    assert list(artifacts(tmp_path, kind="aws:cloudformation:stack")) == []


def test_an_assembly_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"manifest\.json"):
        artifacts(tmp_path, kind="cdk:cloud-assembly")
