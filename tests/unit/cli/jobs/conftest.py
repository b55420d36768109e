"""The fake of AWS Batch as the AWS of the commands."""

import pytest
from tests.fake_clients import FakeClients
from tests.unit.cli.jobs.fake_batch import Fake

from ultracluster_cli.jobs import session as jobs_session


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Fake:
    fake = Fake()
    clients = FakeClients(fake.client, region="us-east-2")
    fake.configs = clients.configs
    monkeypatch.setattr(jobs_session, "clients_of", lambda _: clients)
    return fake
