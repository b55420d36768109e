"""What asks itself opens no connection."""

from typing import Any

import pytest

from ultracluster_local import LocalAws
from ultracluster_local.instance.running import running

pytestmark = pytest.mark.deploy

REGION = "us-east-1"


def test_a_request_of_its_own_opens_no_connection(local_aws: LocalAws, connections: list[Any]) -> None:
    assert running().clients.get("ec2", REGION).describe_vpcs()["Vpcs"]
    assert connections == []
    assert local_aws.client("ec2", REGION).describe_vpcs()["Vpcs"]
    assert len(connections) == 1
