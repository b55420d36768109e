"""A project whose cluster is deployed on a fake of AWS."""

import json
from pathlib import Path

import pytest
from tests.unit.cli.operate.fake_aws import Aws

from ultracluster_cli._aws import targets
from ultracluster_cli.deploy import rehearsal_removal as removal
from ultracluster_cli.operate import nodes


@pytest.fixture
def aws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quickstart: Path) -> Aws:
    """AWS with the cluster of the quick start, whose rollout is that of the current folder."""
    aws = Aws()
    (tmp_path / "cdk.json").write_text(json.dumps({"context": {"rollout": "rollout.yaml"}}))
    (tmp_path / "rollout.yaml").write_text(quickstart.read_text())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(targets, "account", aws.account)
    monkeypatch.setattr(nodes, "open_region", lambda *_, region, **__: (region or "us-east-2", aws))
    monkeypatch.setattr(removal.time, "sleep", lambda _: None)
    return aws
