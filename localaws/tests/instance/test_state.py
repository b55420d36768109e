"""State of services by Region."""

from collections import defaultdict

import pytest

from ultracluster_local.instance import state


@pytest.fixture(autouse=True)
def _no_state(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "_STATE", defaultdict(dict))


def test_each_region_keeps_a_separate_state_until_it_is_cleared() -> None:
    here = state.region_state("things", region="us-east-1", new=list[int])
    here.append(1)

    assert state.region_state("things", region="us-east-1", new=list[int]) is here
    assert state.region_state("things", region="us-east-2", new=list[int]) == []
    assert state.region_state("others", region="us-east-1", new=list[int]) == []
    state.clear_state()
    assert state.region_state("things", region="us-east-1", new=list[int]) == []


def test_a_state_that_is_false_is_kept_as_well() -> None:
    made = []

    for _ in range(2):
        state.region_state("nothing", region="us-east-1", new=lambda: made.append(1))

    assert made == [1]


def test_only_regions_that_have_the_named_state_are_listed_and_in_order() -> None:
    for name, region in (("a", "us-west-2"), ("a", "eu-north-1"), ("b", "us-east-1")):
        state.region_state(name, region=region, new=dict[str, str])

    assert state.regions_with_state("a") == ["eu-north-1", "us-west-2"]
