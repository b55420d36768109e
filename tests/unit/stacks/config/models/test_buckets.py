"""`checkpoints` and `datasets` of a rollout."""

from collections.abc import Callable

import pytest

from ultracluster_rules.findings import Finding

Findings = Callable[..., list[Finding]]

_JOBS = "        jobs:\n"
_KEY = "arn:aws:kms:us-east-2:123456789012:key/mrk-0123456789abcdef0123456789abcdef"


def _found(findings: Findings, *lines: str) -> list[tuple[str, str]]:
    added = "".join(f"        {line}\n" for line in lines)
    return [
        (each.code, each.path.removeprefix("waves[0].clusters[0]."))
        for each in findings((_JOBS, added + _JOBS))
    ]


@pytest.mark.parametrize(
    "line",
    [
        "checkpoints: {noncurrent_days: 1}",
        "checkpoints: {noncurrent_days: 3650}",
        f"checkpoints: {{bucket_name: our-checkpoints, kms_key_arn: '{_KEY}'}}",
        "datasets: [{name: c4, file_system_path: /datasets/c4}, {name: pile, file_system_path: /datasets/pile}]",
        "datasets: [{name: c4, bucket_name: public-corpora}]",
    ],
)
def test_takes_new_and_existing_buckets(findings: Findings, line: str) -> None:
    assert _found(findings, line) == []


@pytest.mark.parametrize(
    ("line", "code", "place"),
    [
        ("checkpoints: {noncurrent_days: 0}", "UC5111", "checkpoints.noncurrent_days"),
        ("checkpoints: {noncurrent_days: 3651}", "UC5111", "checkpoints.noncurrent_days"),
        ("checkpoints: {bucket_name: Ours}", "UC5110", "checkpoints.bucket_name"),
        ("checkpoints: {bucket_name: ab}", "UC5110", "checkpoints.bucket_name"),
        ("checkpoints: {bucket_name: ours.-57}", "UC5110", "checkpoints.bucket_name"),
        ("checkpoints: {bucket_name: ours-.57}", "UC5110", "checkpoints.bucket_name"),
        ("checkpoints: {bucket_name: ours, noncurrent_days: 9}", "UC5112", "checkpoints.noncurrent_days"),
        ("datasets: [{bucket_name: ours}]", "UC1021", "datasets[0].name"),
        ("datasets: [{name: c4}, {name: c4}]", "UC5113", "datasets[1].name"),
        (
            "datasets: [{name: c4, bucket_name: ours, noncurrent_days: 9}]",
            "UC5112",
            "datasets[0].noncurrent_days",
        ),
        (
            f"datasets: [{{name: c4, kms_key_arn: '{_KEY.replace('us-east-2', 'eu-west-1')}'}}]",
            "UC5104",
            "datasets[0].kms_key_arn",
        ),
        ("datasets: [{name: c4, file_system_path: c4}]", "UC5022", "datasets[0].file_system_path"),
        (
            "datasets: [{name: c4, file_system_path: /checkpoints/c4}]",
            "UC5023",
            "file_system.link_checkpoints",
        ),
    ],
)
def test_refuses_at_its_place(findings: Findings, line: str, code: str, place: str) -> None:
    assert _found(findings, line) == [(code, place)]


def test_one_bucket_is_not_joined_twice(findings: Findings) -> None:
    lines = (
        "checkpoints: {bucket_name: ours}",
        "datasets: [{name: c4, bucket_name: ours, file_system_path: /c4}]",
    )
    assert _found(findings, *lines) == [("UC5024", "file_system.link_checkpoints")]


def test_a_dataset_is_not_shown_on_an_existing_file_system(findings: Findings) -> None:
    existing = (
        "file_system_id: fs-0123456789abcdef0, mount_name: abcdefgh, zone_id: use2-az3, "
        "security_group_id: sg-0123456789abcdef0"
    )
    found = findings(
        ("storage_capacity_gib: 4800, per_unit_storage_throughput: 250", existing),
        (_JOBS, "        datasets: [{name: c4, file_system_path: /c4}]\n" + _JOBS),
    )
    assert [(each.code, each.path) for each in found] == [
        ("UC5103", "waves[0].clusters[0].datasets[0].file_system_path")
    ]
