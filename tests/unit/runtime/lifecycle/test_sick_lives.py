"""Seeded lives of blocks whose nodes become sick."""

import pytest
from tests.unit.runtime.lifecycle.sick_simulation import describe, live

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("lives", [30, pytest.param(1_000, marks=pytest.mark.deep)])
def test_sick_nodes_are_replaced_and_healthy_ones_and_jobs_are_kept(lives: int) -> None:
    sums = live(range(lives))
    print(describe(sums, lives))  # noqa: T201 - the figures of `pytest -rP`
    assert sums[True]["replaced"] > lives / 3
    # Devices of a healthy node that are missing twice within minutes look like those of a sick one.
    assert sums[True]["replaced falsely"] <= sums[True]["replaced"] / 100
    assert not sums[True]["jobs lost"]
    assert sums[True]["minutes lost"] < sums[False]["minutes lost"] / 2
