"""Ranges of nodes in multi-node parallel jobs."""

from typing import Any

import pytest
from tests.refusals import said, said_of_values
from tests.services.batch.training_queue import NODES, training_queue

from ultracluster_local import LocalAws
from ultracluster_local.services.batch.node_ranges import check_node_properties, nodes_of

pytestmark = pytest.mark.slow


def job(*targets: str, count: int = 4, main: int = 0, types: tuple[str, ...] = ()) -> dict[str, Any]:
    ranges = [{"targetNodes": target, "container": {"image": "x"}} for target in targets]
    for node_range, name in zip(ranges, types, strict=False):
        node_range["container"] = {"image": "x", "instanceType": name}
    return {"numNodes": count, "mainNode": main, "nodeRangeProperties": ranges}


@pytest.mark.parametrize(
    ("target", "nodes"),
    [("0:3", [0, 1, 2, 3]), (":", [0, 1, 2, 3]), (":1", [0, 1]), ("2:", [2, 3]), ("3", [3]), ("1:1", [1])],
)
def test_a_range_may_leave_out_its_ends(target: str, nodes: list[int]) -> None:
    assert list(nodes_of(target, 4)) == nodes


@pytest.mark.parametrize("target", ["", "a", "0-3", "0:1:2", "-1:2"])
def test_what_is_no_range_is_refused(target: str) -> None:
    assert "targetNodes should contain only digits." in said(nodes_of, target, 4)


@pytest.mark.parametrize("target", ["0:4", "4", "4:", "3:2"])
def test_a_range_of_other_nodes_is_refused(target: str) -> None:
    assert f"targetNodes {target} is not a valid node range" in said(nodes_of, target, 4)


def test_the_nodes_of_each_range_are_returned_and_may_overlap() -> None:
    assert check_node_properties(job("0:3", "1:2")) == [range(4), range(1, 3)]


@pytest.mark.parametrize(
    ("nodes", "words"),
    [
        (job("0:3", count=0), "numNodes must be at least 1"),
        (job("0:3", main=4), "main node index must be fewer than the number of nodes, 4"),
        (job(), "nodeRangeProperties must be provided"),
        (job("0", "1", "2", "3", "0:1", "2:3"), "Maximum allowed size of node range properties is 5"),
        (job("0:1", "3"), "must account for all nodes (0:3); missing: 2"),
        (job("0", "1:", types=("trn2.48xlarge", "trn1.32xlarge")), "must use the same instance type"),
    ],
)
def test_node_properties_that_no_job_can_have_are_refused(nodes: dict[str, Any], words: str) -> None:
    assert words in said_of_values("batch", "RegisterJobDefinition", nodeProperties=nodes) or said(
        check_node_properties, nodes
    )


@pytest.mark.parametrize("main", [-1, 4])
def test_main_node_must_be_one_of_the_nodes(local_aws: LocalAws, main: int) -> None:
    batch = training_queue(local_aws)

    with pytest.raises(
        batch.exceptions.ClientError, match="Main node index is out of range, must be less than numNodes"
    ):
        batch.register_job_definition(
            jobDefinitionName="x", type="multinode", nodeProperties={**NODES, "mainNode": main}
        )
