"""Clients of EC2 at the time of the tests."""

from typing import Any

import pytest
from tests.events.event_rules import NOW as EVENTS_NOW
from tests.services.ec2.capacity_calls import NOW, REGION

from ultracluster_local import LocalAws


@pytest.fixture
def ec2(local_aws: LocalAws) -> Any:
    local_aws.clock.set(NOW)
    return local_aws.client("ec2", REGION)


@pytest.fixture
def local(local_aws: LocalAws) -> LocalAws:
    local_aws.clock.set(EVENTS_NOW)
    return local_aws
