from ipaddress import ip_network

import pytest

from ultracluster_catalog.places.addresses import subnet_addresses, subnet_prefix


def _size(prefix: int) -> int:
    return ip_network(f"10.0.0.0/{prefix}").num_addresses


def test_counts_nodes_tasks_endpoints_file_systems_and_what_aws_keeps() -> None:
    assert (
        subnet_addresses(
            nodes=4,
            addresses_per_node=1,
            tasks_per_node=1,
            interface_endpoints=9,
            file_system_interfaces=3,
        )
        == 5 + 4 * (1 + 1) + 9 + 3
    )


def test_a_node_has_one_task_unless_said_otherwise() -> None:
    assert subnet_addresses(nodes=3, addresses_per_node=16) == 5 + 3 * 17
    assert subnet_addresses(nodes=3, addresses_per_node=16, tasks_per_node=0) == 5 + 3 * 16


def test_rejects_negative_counts() -> None:
    with pytest.raises(ValueError, match="nodes, file_system_interfaces: below 0"):
        subnet_addresses(nodes=-1, addresses_per_node=1, file_system_interfaces=-5)


@pytest.mark.parametrize("prefix", range(16, 29))
def test_returns_the_smallest_subnet_on_both_sides_of_each_size(prefix: int) -> None:
    assert subnet_prefix(_size(prefix)) == prefix
    if prefix > 16:
        assert subnet_prefix(_size(prefix) + 1) == prefix - 1


def test_no_subnet_is_smaller_than_aws_allows() -> None:
    assert [subnet_prefix(needed) for needed in (0, 1, 2, 5, 15)] == [28] * 5


def test_rejects_more_than_the_largest_subnet() -> None:
    with pytest.raises(ValueError, match="65537 addresses"):
        subnet_prefix(65_537)
