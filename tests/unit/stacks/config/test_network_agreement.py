"""What the rules count for a subnet is what the network construct puts into it."""

import pytest

from ultracluster_stacks.config.network_rules import FILE_SYSTEM_ADDRESSES, INTERFACE_ENDPOINTS

pytestmark = pytest.mark.synth


def test_a_subnet_that_the_rules_just_accept_is_accepted_by_the_construct() -> None:
    from ultracluster import cluster_network

    assert len(cluster_network._INTERFACE_ENDPOINTS) == INTERFACE_ENDPOINTS
    assert cluster_network._FILE_SYSTEM_ADDRESSES == FILE_SYSTEM_ADDRESSES
