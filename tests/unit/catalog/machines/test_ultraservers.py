import pytest

from ultracluster_catalog.machines.instance_types import get_instance_type
from ultracluster_catalog.machines.ultraservers import check_job_ultraservers, check_whole_ultraservers

TRN2U = get_instance_type("trn2u.48xlarge")
TRN2 = get_instance_type("trn2.48xlarge")


@pytest.mark.parametrize("nodes", [1, 2, 4, 8, 64])
def test_a_job_has_a_part_of_an_ultraserver_or_whole_ones(nodes: int) -> None:
    assert check_job_ultraservers(TRN2U, nodes) == []


@pytest.mark.parametrize("nodes", [3, 5, 6, 63])
def test_refuses_nodes_that_cannot_be_joined(nodes: int) -> None:
    (finding,) = check_job_ultraservers(TRN2U, nodes)
    assert (finding.code, finding.allowed) == ("UC4028", "1, 2, or a multiple of 4")


@pytest.mark.parametrize(("nodes", "warns"), [(1, True), (2, True), (4, False), (6, True), (8, False)])
def test_warns_of_a_part_that_is_paid_and_not_used(nodes: int, warns: bool) -> None:
    assert [finding.code for finding in check_whole_ultraservers(TRN2U, nodes)] == ["UC4029"] * warns


def test_other_types_have_as_many_nodes_as_they_like() -> None:
    assert check_job_ultraservers(TRN2, 3) == check_whole_ultraservers(TRN2, 3) == []
