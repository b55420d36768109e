"""Rules for compute environments and job queues."""

from typing import Any

import pytest
from tests.unit.checks.edits import CE, LT, codes_after

from ultracluster_checks import Source
from ultracluster_checks.table import RECORDS

BLOCK_ON_BATCH = {
    f"{LT}/InstanceMarketOptions": {"MarketType": "capacity-block"},
    f"{LT}/CapacityReservationSpecification": {
        "CapacityReservationTarget": {"CapacityReservationId": "cr-0a1b2c3d4e5f60718"}
    },
    f"{CE}/PlacementGroup": None,
}

# As in AWS's templates for Capacity Blocks, 2026-11: awslabs/awsome-distributed-ai, 3.aws-batch for p5 and p6; the third is
# aws-samples/sample-aws-batch-capacity-block-reservations.
PUBLISHED_BLOCKS: tuple[dict[str, Any], ...] = (
    {f"{CE}/AllocationStrategy": "BEST_FIT", "ComputeEnvironment/ReplaceComputeEnvironment": None},
    {f"{CE}/AllocationStrategy": None, "ComputeEnvironment/ReplaceComputeEnvironment": None},
    {
        f"{CE}/AllocationStrategy": None,
        f"{CE}/MinvCpus": 128,
        "ComputeEnvironment/ComputeEnvironmentName": "blocks",
        "ComputeEnvironment/ReplaceComputeEnvironment": False,
    },
)


@pytest.mark.parametrize("edits", PUBLISHED_BLOCKS)
def test_environments_of_published_templates_for_blocks_have_no_error(
    foreign: dict[str, Source], edits: dict[str, Any]
) -> None:
    moving = {f"{CE}/LaunchTemplate/Version": "$Latest", f"{CE}/MaxvCpus": 100000}
    broken = codes_after(foreign, "batch-efa", BLOCK_ON_BATCH | edits | moving)
    assert [code for code in broken if RECORDS[code].severity == "error"] == []
