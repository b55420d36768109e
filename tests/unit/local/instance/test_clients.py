"""Clients of users."""

from typing import Any

import pytest

from ultracluster_local import LocalAws
from ultracluster_local.instance.clients import Clients

pytestmark = pytest.mark.deploy

REGION = "us-east-1"


def test_the_clients_of_users_go_over_http(local_aws: LocalAws, connections: list[Any]) -> None:
    assert Clients(endpoint=local_aws.endpoint).get("sts", REGION).get_caller_identity()["Account"]
    assert len(connections) == 1
