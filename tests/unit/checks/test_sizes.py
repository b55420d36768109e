"""Sizes that AWS refuses, with the least that references become."""

from tests.unit.checks.edits import JOB, codes_after

from ultracluster_checks import Source


def test_a_definition_of_24_kib_is_refused_and_one_of_16_is_not(foreign: dict[str, Source]) -> None:
    for length, found in ((16, []), (24, ["UC6411"])):
        assert codes_after(foreign, "batch-efa", {f"{JOB}/Command": ["x" * length * 1024]}) == found
