"""`ultracluster export` with a fake CDK CLI (the real one: tests/integration)."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.unit.cli._cdk.fake_cdk import install_cdk

pytestmark = pytest.mark.process

Run = Callable[..., Any]

FAKE_CDK = """\
import json, pathlib, sys
root = pathlib.Path(sys.argv[sys.argv.index("--output") + 1])
stage = root / "assembly-q"
stage.mkdir(parents=True)
(root / "asset.1").mkdir()
(root / "asset.1" / "index.py").write_text("print()")
inner = {"type": "cdk:cloud-assembly",
          "properties": {"directoryName": stage.name, "displayName": "quickstart-us-east-2"}}
(root / "manifest.json").write_text(json.dumps({"artifacts": {"q": inner}}))
stack = {"type": "aws:cloudformation:stack", "environment": "aws://unknown-account/us-east-2",
          "properties": {"stackName": "quickstart-us-east-2-Cluster", "templateFile": "t.json"}}
(stage / "manifest.json").write_text(json.dumps({"artifacts": {"s": stack}}))
(stage / "t.json").write_text(pathlib.Path("template.json").read_text())
asset = {"source": {"path": "../asset.1", "packaging": "zip"}, "destinations": {"d": {"objectKey": "1.zip"}}}
(stage / "s.assets.json").write_text(json.dumps({"files": {"1": asset}}))
"""
TEMPLATE = {"Resources": {"A": {"Type": "A::B::C", "Properties": {"P": "ami-0123456789abcdef0"}}}}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quickstart: Path) -> Path:
    (tmp_path / "cdk.json").write_text(json.dumps({"context": {"rollout": "rollout.yaml"}}))
    (tmp_path / "rollout.yaml").write_text(quickstart.read_text())
    (tmp_path / "template.json").write_text(json.dumps(TEMPLATE))
    install_cdk(tmp_path, FAKE_CDK)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_writes_templates_and_assets_and_lists_them(project: Path, run: Run) -> None:
    outcome = run("export", "--output", "out", "--json")

    assert outcome.code == 0, outcome.stderr
    files = {
        str(path.relative_to(project / "out")) for path in (project / "out").rglob("*") if path.is_file()
    }
    folder = "quickstart-us-east-2"
    assert files == {
        f"{folder}/cluster.template.json",
        f"{folder}/stack-sets.template.json",
        "assets/1.zip",
    }
    first, _ = json.loads(outcome.stdout)["templates"]
    assert first["template"] == f"{folder}/cluster.template.json"
    assert first["parameters"] == "ImageId"
    assert first["pass_as"] == "body or URL"


def test_refuses_a_folder_that_holds_something(project: Path, run: Run) -> None:
    (project / "full").mkdir()
    (project / "full" / "file").touch()
    (project / "empty").mkdir()

    full, empty = run("export", "--output", "full"), run("export", "--output", "empty")

    assert (full.code, empty.code) == (2, 0)
    assert "UC9611" in full.stderr


def test_a_large_template_must_be_passed_as_a_url(project: Path, run: Run) -> None:
    filled = json.dumps({"Resources": {"A": {"Type": "A::B::C", "Properties": {"P": "x" * 51_200}}}})
    (project / "template.json").write_text(filled)

    outcome = run("export", "--output", "out", "--json")

    assert json.loads(outcome.stdout)["templates"][0]["pass_as"] == "URL"
