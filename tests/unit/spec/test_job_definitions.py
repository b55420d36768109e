from functools import partial

import pytest

from ultracluster_spec.instance_type import get_instance_type
from ultracluster_spec.job_definitions import (
    check_dependencies,
    check_gate_bandwidth,
    check_gate_bound,
    check_meeting_place,
    check_timeout_seconds,
)


def test_names_of_jobs_are_in_a_tag_of_256_characters_and_ids_in_none() -> None:
    assert [finding.code for finding in check_dependencies(["a" * 257])] == ["UC6113"]
    assert check_dependencies(["a" * 256]) == check_dependencies(["a" * 257], tagged=False) == []


def test_what_a_file_cannot_say_of_a_job_has_bounds_too() -> None:
    assert [finding.code for finding in check_timeout_seconds(59)] == ["UC6104"]
    assert [finding.code for finding in check_gate_bound(0, path="")] == ["UC6151"]
    assert [finding.code for finding in check_meeting_place(2, has_place=False)] == ["UC6118"]
    assert check_timeout_seconds(60) == check_gate_bound(0.1, path="") == []
    assert check_meeting_place(1, has_place=False) == []


@pytest.mark.parametrize(
    ("instance_type", "nodes", "most"),
    [
        ("trn1.32xlarge", 2, 186),  # 800 Gbit/s are 93.1 GiB/s, of which two nodes need each only half
        ("trn1.32xlarge", 16, 99),
        ("trn2.48xlarge", 4, 496),  # 3,200 Gbit/s
        ("trn2.48xlarge", 1000, 372),
        ("trn2.48xlarge", 1, None),  # one node has NeuronLink only
        ("trn2u.48xlarge", 4, None),
    ],
)
def test_a_gate_asks_for_what_the_network_carries(instance_type: str, nodes: int, most: int | None) -> None:
    check = partial(check_gate_bandwidth, get_instance_type(instance_type), nodes, path="")

    assert check(10_000 if most is None else most) == []
    assert check(None) == []
    if most is not None:
        (found,) = check(most + 1)
        assert (found.code, found.allowed) == ("UC6158", f"at most {most} GiB/s")
