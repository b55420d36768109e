"""`checkpoints` and `datasets` of a rollout."""

import pytest

from ultracluster_spec.buckets import (
    COMPILER_VERSION,
    check_cache_folder,
    check_cache_prefix,
    check_destinations,
    check_replication_key,
)
from ultracluster_spec.findings import Finding


@pytest.mark.parametrize(
    ("broken", "kept", "code"),
    [
        (COMPILER_VERSION.check("2"), COMPILER_VERSION.check("2.19"), "UC6014"),
        (check_cache_prefix("neuron/"), check_cache_prefix("team/neuron"), "UC6014"),
        (check_cache_folder("../cache"), check_cache_folder("cache"), "UC6016"),
        (
            check_replication_key(has_key=True, replicated=True),
            check_replication_key(has_key=True, replicated=False),
            "UC5250",
        ),
    ],
)
def test_a_rule_is_broken_just_beyond_its_bound(
    broken: list[Finding], kept: list[Finding], code: str
) -> None:
    assert [finding.code for finding in broken] == [code]
    assert kept == []


def test_a_destination_that_is_named_again_is_found_at_its_place() -> None:
    assert [(index, finding.code) for index, finding in check_destinations(["a", None, None, "a"])] == [
        (3, "UC5140")
    ]
