import pytest

from ultracluster_catalog.machines.instance_types import get_instance_type
from ultracluster_catalog.places.cluster_subnet import check_available_addresses, cluster_addresses
from ultracluster_rules.findings import FindingsError

TRN2 = get_instance_type("trn2.48xlarge")


@pytest.mark.parametrize(
    ("nodes", "layout", "addresses"),
    # AWS keeps 5, the endpoints take 9, the file system 128; a node takes its own addresses and one for its task.
    [(0, "batch", 142), (4, "batch", 150), (4, "all-efa", 210), (64, "all-efa", 1230)],
)
def test_counts_everything_that_shares_the_subnet(nodes: int, layout: str, addresses: int) -> None:
    assert cluster_addresses(instance_type=TRN2, nodes=nodes, nic_layout=layout) == addresses


def test_refuses_an_unknown_layout() -> None:
    with pytest.raises(FindingsError, match="UC4002"):
        cluster_addresses(instance_type=TRN2, nodes=4, nic_layout="fast")


@pytest.mark.parametrize(
    ("layout", "file_systems", "needed"), [("batch", 128, 136), ("batch", 0, 8), ("all-efa", 3, 71)]
)
def test_a_subnet_has_just_enough_free_addresses_or_one_too_few(
    layout: str, file_systems: int, needed: int
) -> None:
    def codes(free: int) -> list[str]:
        findings = check_available_addresses(
            instance_type=TRN2,
            nodes=4,
            nic_layout=layout,
            available_addresses=free,
            file_system_interfaces=file_systems,
        )
        return [finding.code for finding in findings]

    assert codes(needed) == []
    assert codes(needed - 1) == ["UC3002"]
