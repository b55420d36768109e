"""Stubbed clients for the watch."""

from typing import Any

import boto3
import pytest
from botocore.stub import Stubber
from tests.fake_clients import FakeClients


@pytest.fixture
def stubs() -> Any:
    made = {name: boto3.client(name, region_name="us-east-2") for name in ("batch", "cloudwatch", "ec2")}
    stubbers = {name: Stubber(client) for name, client in made.items()}
    for each in stubbers.values():
        each.activate()
    return FakeClients(lambda service, _: made[service]), stubbers
