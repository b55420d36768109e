"""`checkpoints` and `datasets` of a rollout."""

import pytest
from tests.unit.stacks.config.bucket_edits import BUCKET_KEY, Findings, bucket_findings

from ultracluster_spec.buckets import (
    COMPILER_VERSION,
    check_cache_folder,
    check_cache_prefix,
    check_destinations,
    check_replication_key,
)
from ultracluster_spec.findings import Finding


@pytest.mark.parametrize(
    "line",
    [
        "checkpoints: {noncurrent_days: 1}",
        "checkpoints: {noncurrent_days: 3650}",
        f"checkpoints: {{bucket_name: our-checkpoints, kms_key_arn: '{BUCKET_KEY}'}}",
        "datasets: [{name: c4, file_system_path: /datasets/c4}, {name: pile, file_system_path: /datasets/pile}]",
        "datasets: [{name: c4, bucket_name: public-corpora}]",
    ],
)
def test_takes_new_and_existing_buckets(findings: Findings, line: str) -> None:
    assert bucket_findings(findings, line) == []


@pytest.mark.parametrize(
    ("line", "code", "place"),
    [
        ("checkpoints: {noncurrent_days: 0}", "UC5111", "checkpoints.noncurrent_days"),
        ("checkpoints: {noncurrent_days: 3651}", "UC5111", "checkpoints.noncurrent_days"),
        ("checkpoints: {bucket_name: Ours}", "UC5110", "checkpoints.bucket_name"),
        ("checkpoints: {bucket_name: ab}", "UC5110", "checkpoints.bucket_name"),
        ("checkpoints: {bucket_name: ours.-57}", "UC5110", "checkpoints.bucket_name"),
        ("checkpoints: {bucket_name: ours-.57}", "UC5110", "checkpoints.bucket_name"),
        ("datasets: [{bucket_name: ours}]", "UC1021", "datasets[0].name"),
    ],
)
def test_refuses_a_bucket_at_its_place(findings: Findings, line: str, code: str, place: str) -> None:
    assert bucket_findings(findings, line) == [(code, place)]


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
