"""A local AWS with a Capacity Block that begins later."""

import pytest
from tests.events.event_rules import NOW
from tests.services.ec2.blocks_and_instances import seed

from ultracluster_local import LocalAws


@pytest.fixture
def local(local_aws: LocalAws) -> LocalAws:
    local_aws.clock.set(NOW)
    seed()
    return local_aws
