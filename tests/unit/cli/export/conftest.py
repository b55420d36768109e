"""A project whose synthesis is fake."""

import json
from pathlib import Path

import pytest
from tests.unit.cli._cdk.fake_cdk import install_cdk
from tests.unit.cli.export.fake_synthesis import FAKE_CDK, TEMPLATE


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quickstart: Path) -> Path:
    (tmp_path / "cdk.json").write_text(json.dumps({"context": {"rollout": "rollout.yaml"}}))
    (tmp_path / "rollout.yaml").write_text(quickstart.read_text())
    (tmp_path / "template.json").write_text(json.dumps(TEMPLATE))
    install_cdk(tmp_path, FAKE_CDK)
    monkeypatch.chdir(tmp_path)
    return tmp_path
