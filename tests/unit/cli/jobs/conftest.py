"""The fake of AWS Batch as the AWS of the commands."""

from types import SimpleNamespace

import pytest
from tests.unit.cli.jobs.fake_batch import Fake

from ultracluster_cli.jobs import session as jobs_session


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Fake:
    fake = Fake()
    session = SimpleNamespace(client=fake.client, region_name="us-east-2")
    monkeypatch.setattr(jobs_session, "aws_session", lambda _: session)
    return fake
