"""The compile cache in a rollout file."""

from collections.abc import Callable

import pytest

from ultracluster_spec.findings import Finding

Findings = Callable[..., list[Finding]]
_JOBS = "        jobs:\n"


@pytest.mark.parametrize(
    ("cache", "codes"),
    [
        ("{expire_after_days: 0}", ["UC6017"]),
        ('{expire_compilers: {"2.19": 3651}}', ["UC6017"]),
        ('{expire_compilers: {"two": 30}}', ["UC6014"]),
        ("{replicate_to: [Melbourne]}", ["UC5110"]),
    ],
)
def test_a_compile_cache_has_the_settings_of_its_place(
    findings: Findings, cache: str, codes: list[str]
) -> None:
    found = findings((_JOBS, f"        compile_cache: {cache}\n{_JOBS}"))
    assert [each.code for each in found] == codes
