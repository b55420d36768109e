"""The compile cache is in one place and its copies in others."""

from collections.abc import Callable

import pytest

from ultracluster_spec.findings import Finding

Findings = Callable[..., list[Finding]]
_JOBS = "        jobs:\n"


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
