"""A thousand seeded lives of blocks whose nodes become sick."""

import pytest
from tests.deep.conftest import Tried
from tests.unit.runtime.lifecycle.sick_simulation import describe, live

pytestmark = [pytest.mark.deep, pytest.mark.slow]

LIVES = 1000


def test_lives_with_sick_nodes(tried: Tried) -> None:
    sums = live(range(LIVES))
    tried("sick nodes", describe(sums, LIVES))
    # Devices of a healthy node that are missing twice within minutes look like those of a sick one.
    assert sums[True]["replaced falsely"] <= sums[True]["replaced"] / 100
    assert not sums[True]["jobs lost"]
    assert sums[True]["minutes lost"] < sums[False]["minutes lost"]
