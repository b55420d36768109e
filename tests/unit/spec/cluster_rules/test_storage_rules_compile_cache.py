"""The compile cache is in one place and its copies in others."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.stacks.config.key_edits import load_with_key

from ultracluster_spec.findings import Finding, FindingsError

Findings = Callable[..., list[Finding]]
_JOBS = "        jobs:\n"
KEY = "arn:aws:kms:us-east-2:123456789012:key/01234567-89ab-cdef-0123-456789abcdef"


@pytest.mark.parametrize(
    ("cache", "codes"),
    [
        ('{expire_after_days: 1, expire_compilers: {"2.19": 3650}, request_metrics: true}', []),
        ("{on_file_system: true}", []),
        ("{on_file_system: true, expire_after_days: 30}", ["UC6018"]),
        ("{on_file_system: true, request_metrics: true}", ["UC6018"]),
        ("{replicate_to: [melbourne, mumbai], versioned: true}", []),
        ("{replicate_to: [melbourne, melbourne]}", ["UC5140"]),
        ("{on_file_system: true, replicate_to: [melbourne]}", ["UC6018"]),
        ("{on_file_system: true, versioned: true}", ["UC6018"]),
        ("{replicate_to: [data]}\n        checkpoints: {bucket_name: data}", ["UC5142"]),
    ],
)
def test_a_compile_cache_has_the_settings_of_its_place(
    findings: Findings, cache: str, codes: list[str]
) -> None:
    found = findings((_JOBS, f"        compile_cache: {cache}\n{_JOBS}"))
    assert [each.code for each in found] == codes


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        (f'kms_key_arn: "{KEY}"\n        compile_cache: {{replicate_to: [another-cache]}}', "UC5250"),
    ],
)
def test_refuses_a_key_with_its_line(fields: str, code: str, tmp_path: Path) -> None:
    with pytest.raises(FindingsError) as refused:
        load_with_key(fields, tmp_path)

    assert [each.code for each in refused.value.findings] == [code]
    assert re.search(r"rollout\.yaml:\d+: .*\.compile_cache\.replicate_to", str(refused.value))


def test_accepts_copies_without_a_key(tmp_path: Path) -> None:
    assert load_with_key("compile_cache: {replicate_to: [another-cache]}", tmp_path) is None
