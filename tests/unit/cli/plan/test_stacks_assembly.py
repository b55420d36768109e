"""Stacks of a cloud assembly are those of its stages."""

import json
from pathlib import Path
from typing import Any

import pytest

from ultracluster_cli.plan.stacks import assembled_stacks
from ultracluster_spec.findings import FindingsError


def write_manifest(directory: Path, artifacts: dict[str, Any]) -> None:
    directory.mkdir(exist_ok=True)
    (directory / "manifest.json").write_text(json.dumps({"version": "55.0.0", "artifacts": artifacts}))
    (directory / "t.json").write_text('{"Resources": {}}')


def stage(name: str) -> dict[str, Any]:
    return {
        "type": "cdk:cloud-assembly",
        "properties": {"directoryName": f"assembly-{name}", "displayName": name},
    }


def stack(name: str, region: str) -> dict[str, Any]:
    return {
        "type": "aws:cloudformation:stack",
        "environment": f"aws://unknown-account/{region}",
        "properties": {"stackName": name, "templateFile": "t.json"},
    }


def test_reads_the_stacks_of_stages_and_no_other_artifacts(tmp_path: Path) -> None:
    write_manifest(tmp_path, {"Tree": {"type": "cdk:tree"}, "a": stage("a-us-east-2")})
    write_manifest(tmp_path / "assembly-a-us-east-2", {"N1": stack("a-Network", "us-east-2")})

    (read,) = assembled_stacks(tmp_path)

    assert (read.cluster, read.name, read.region, read.account) == (
        "a-us-east-2",
        "a-Network",
        "us-east-2",
        None,
    )


def test_an_assembly_that_is_not_there_is_a_finding(tmp_path: Path) -> None:
    with pytest.raises(FindingsError, match=r"^error: .*manifest\.json"):
        assembled_stacks(tmp_path)
