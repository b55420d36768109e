"""The capacity of a cluster is sold and used as the file says."""

from collections.abc import Callable
from typing import Any

import pytest

from ultracluster_stacks.config import LoadedRollout

_TYPE = "trn2.48xlarge"
_CLUSTER = "waves[0].clusters[0]"
_BLOCK = """          market_type: capacity-block
          reservation_id: cr-0123456789abcdef0
"""
_ON_DEMAND = (_BLOCK, "          market_type: on-demand\n")


@pytest.mark.parametrize(
    ("edits", "places"),
    [
        ([], [f"{_CLUSTER}.capacity.launched_by"]),
        ([(_BLOCK, f"{_BLOCK}          launched_by: auto-scaling\n")], []),
        ([_ON_DEMAND], []),
        ([(_TYPE, "p5.48xlarge")], []),
        ([(_TYPE, "p5en.48xlarge")], [f"{_CLUSTER}.capacity.launched_by"]),
        ([("nodes: 4", "nodes: 4\n        suppress: {UC4152: shown in our account on 2026-11-20}")], []),
    ],
)
def test_says_that_batch_was_not_shown_to_launch_into_a_block(
    load: Callable[..., Any], edits: list[tuple[str, str]], places: list[str]
) -> None:
    loaded = load(*edits)

    assert [finding.path for finding in loaded.unshown] == places
    assert "UC4152" not in {finding.code for finding in loaded.warnings}


def test_reads_times_as_utc(load: Callable[..., LoadedRollout]) -> None:
    capacity = load().config.waves[0].clusters[0].capacity

    assert capacity.start is not None
    assert capacity.start.isoformat() == "2026-12-01T12:00:00+00:00"
