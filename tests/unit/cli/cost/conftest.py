"""An account that answers with its own name."""

import os

import pytest
from tests.fake_clients import FakeClients

from ultracluster_cli._aws import targets
from ultracluster_cli._aws.target import Target
from ultracluster_cli.cost import estimate as costing


@pytest.fixture
def signed_in(monkeypatch: pytest.MonkeyPatch) -> None:
    def account(_: str | None = None) -> Target:
        return Target(name="a", local=False, environment=os.environ, client=FakeClients(lambda *place: place))

    monkeypatch.setattr(costing, "account", account)
    monkeypatch.setattr(targets, "account", account)
