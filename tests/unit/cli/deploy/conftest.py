"""A project whose deployment is fake."""

import json
from pathlib import Path

import pytest
from tests.unit.cli._cdk.fake_cdk import install_cdk
from tests.unit.cli.deploy.fake_deployment import FAKE_CDK, account
from tests.unit.cli.plan.fake_project import edited, write_assembly

from ultracluster_cli._aws import targets
from ultracluster_cli.deploy import deployment
from ultracluster_cli.plan import planning
from ultracluster_cli.plan.account import Answers


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quickstart: Path) -> Path:
    """A project whose CDK CLI is a fake, in the current folder; the account has all it needs, and nothing to read back."""
    (tmp_path / "cdk.json").write_text(json.dumps({"context": {"rollout": "rollout.yaml"}}))
    (tmp_path / "rollout.yaml").write_text(quickstart.read_text())
    install_cdk(tmp_path, FAKE_CDK)
    write_assembly(tmp_path / "new", edited("StorageCapacity", 9600))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(deployment, "read_clusters", lambda stacks, **_: list(stacks)[:0])
    monkeypatch.setattr(targets, "account", account)
    monkeypatch.setattr(planning, "ask_accounts", lambda *_: Answers((), ()))
    return tmp_path
