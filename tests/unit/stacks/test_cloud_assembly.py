"""Templates of a cloud assembly, as the check of templates reads them."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.stacks.check.good_template import GOOD

from ultracluster_spec.findings import FindingsError
from ultracluster_stacks.check import read_templates


def _assembly(folder: Path, artifacts: dict[str, Any]) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "manifest.json").write_text(json.dumps({"artifacts": artifacts}))
    return folder


def _stack(file: str, environment: str) -> dict[str, Any]:
    return {
        "type": "aws:cloudformation:stack",
        "environment": environment,
        "properties": {"templateFile": file},
    }


def test_the_templates_of_an_assembly_know_their_regions(tmp_path: Path) -> None:
    inner = _assembly(tmp_path / "assembly-it", {"b": _stack("b.json", "aws://unknown-account/us-west-2")})
    outer = {
        "a": _stack("a.json", "aws://unknown-account/unknown-region"),
        "inner": {"type": "cdk:cloud-assembly", "properties": {"directoryName": inner.name}},
        "tree": {"type": "cdk:tree"},
        "odd": 1,
    }
    _assembly(tmp_path, outer)
    for file in (tmp_path / "a.json", inner / "b.json"):
        file.write_text(json.dumps(GOOD))

    assert [source.region for source in read_templates([tmp_path])] == [None, "us-west-2"]
    assert [source.region for source in read_templates([tmp_path], region="us-east-1")] == ["us-east-1"] * 2


@pytest.mark.parametrize(
    "artifacts", [{"a": _stack("../../etc/passwd", "aws://x/us-east-1")}, {"a": _stack("/etc/passwd", "")}]
)
def test_a_manifest_cannot_lead_out_of_its_folder(tmp_path: Path, artifacts: dict[str, Any]) -> None:
    with pytest.raises(FindingsError, match="UC9510"):
        read_templates([_assembly(tmp_path, artifacts)])


@pytest.mark.parametrize("text", ["[", "[1]", '{"artifacts": []}', "{}"])
def test_a_folder_without_a_manifest_is_not_an_assembly(tmp_path: Path, text: str) -> None:
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(FindingsError, match="UC9510"):
        read_templates([tmp_path])
