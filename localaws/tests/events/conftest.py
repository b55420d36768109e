"""A local AWS at the time of the tests."""

import pytest
from tests.events.event_rules import NOW

from ultracluster_local import LocalAws


@pytest.fixture
def local(local_aws: LocalAws) -> LocalAws:
    local_aws.clock.set(NOW)
    return local_aws
