"""Outcomes of checks."""

from ultracluster_runtime.preflight.check import (
    failed,
    passed,
    skipped,
    warned,
    worst,
)


def test_most_severe_outcome_wins() -> None:
    together = worst(
        [skipped("a"), passed("b"), failed("c", "do c"), warned("d", "do d"), failed("e", "do c")]
    )
    assert together == failed("c; e", "do c")
