"""A project whose synthesis and stacks are fake."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.fake_clients import FakeClients
from tests.unit.cli._aws.folder_bucket import FolderBucket
from tests.unit.cli._cdk.fake_cdk import install_cdk
from tests.unit.cli.plan.fake_project import FAKE_CDK, TEMPLATE, CloudFormation, write_assembly

from ultracluster_cli._aws import targets
from ultracluster_cli._aws.target import Target


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quickstart: Path) -> Path:
    """A project whose CDK CLI is a fake that gives the folder `new`, in the current folder."""
    (tmp_path / "cdk.json").write_text(json.dumps({"context": {"rollout": "rollout.yaml"}}))
    (tmp_path / "rollout.yaml").write_text(quickstart.read_text())
    install_cdk(tmp_path, FAKE_CDK)
    write_assembly(tmp_path / "old", TEMPLATE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def deployed(monkeypatch: pytest.MonkeyPatch) -> Callable[[CloudFormation], None]:
    def deploy(cloudformation: CloudFormation) -> None:
        bucket = FolderBucket(Path("s3"))

        def account(_: str | None = None) -> Target:
            return Target(
                name="account 123456789012",
                local=False,
                environment=os.environ,
                client=FakeClients(lambda service, _: bucket if service in {"s3", "sts"} else cloudformation),
                account="123456789012",
            )

        monkeypatch.setattr(targets, "account", account)

    return deploy
