"""Thirty lives of blocks with sick nodes; `make check-deep` lives a thousand."""

import pytest
from tests.unit.runtime.lifecycle.sick_simulation import live

pytestmark = pytest.mark.slow


def test_sick_nodes_are_replaced_and_healthy_ones_and_jobs_are_kept() -> None:
    sums = live(range(30))
    assert sums[True]["replaced"] > 10
    assert not sums[True]["replaced falsely"]
    assert not sums[True]["jobs lost"]
    assert sums[True]["minutes lost"] < sums[False]["minutes lost"] / 2
