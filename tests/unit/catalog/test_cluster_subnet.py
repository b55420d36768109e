import pytest

from ultracluster_catalog.cluster_subnet import cluster_addresses
from ultracluster_catalog.findings import FindingsError
from ultracluster_catalog.instance_types import get_instance_type

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
