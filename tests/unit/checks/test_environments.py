"""Rules for compute environments and job queues."""

from typing import Any

import pytest
from tests.unit.checks.defects import DROP
from tests.unit.checks.edits import BLOCK_ON_BATCH, CE, codes_after

from ultracluster_checks import Source

BROKEN: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("UC4216", "batch-efa", {f"{CE}/LaunchTemplate/Version": DROP}),
    ("UC4120", "batch-efa", {"JobQueue/ComputeEnvironmentOrder": [{"Order": n} for n in range(4)]}),
    ("UC4213", "batch-efa", {f"{CE}/MaxvCpus": 513}),
    ("UC4215", "batch-efa", {f"{CE}/InstanceTypes": ["trn1n.32xlarge"]}),
    (
        "UC6307",
        "batch-efa",
        BLOCK_ON_BATCH
        | {"JobQueue/JobStateTimeLimitActions": [{"Reason": "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY"}]},
    ),
)

KEPT: tuple[tuple[str, dict[str, Any]], ...] = (
    ("batch-efa", {f"{CE}/MaxvCpus": 640}),
    ("batch-efa", {"JobQueue/ComputeEnvironmentOrder": [{"Order": n} for n in range(3)]}),
    ("batch-efa", {f"{CE}/LaunchTemplate/Version": "3"}),
    ("batch-efa", {f"{CE}/LaunchTemplate": {"Fn::If": ["Pinned", {"Version": "1"}, {"Version": "2"}]}}),
)


@pytest.mark.parametrize(
    ("code", "base", "edits"), BROKEN, ids=lambda value: value if isinstance(value, str) else ""
)
def test_edit_breaks_the_rule(
    foreign: dict[str, Source], code: str, base: str, edits: dict[str, Any]
) -> None:
    assert code in codes_after(foreign, base, edits)


@pytest.mark.parametrize(("base", "edits"), KEPT, ids=str)
def test_edit_within_the_rules_breaks_none(
    foreign: dict[str, Source], base: str, edits: dict[str, Any]
) -> None:
    assert codes_after(foreign, base, edits) == []
