"""`ultracluster export` with a fake CDK CLI (the real one: tests/integration)."""

import json
import zipfile
from pathlib import Path

import pytest
from tests.unit.cli.export.fake_synthesis import Run

pytestmark = pytest.mark.slow


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
    with zipfile.ZipFile(project / "out/assets/1.zip") as archive:
        modes = {info.external_attr >> 16 for info in archive.infolist()}
    # https://repost.aws/knowledge-center/lambda-deployment-package-errors: Lambda has to read them.
    assert modes == {0o644}
    first, _ = json.loads(outcome.stdout)["templates"]
    assert first["template"] == f"{folder}/cluster.template.json"
    assert first["parameters"] == "ImageId"
    assert first["pass_as"] == "body or URL"
