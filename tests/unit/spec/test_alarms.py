"""Alarms of a cluster in a rollout file."""

from collections.abc import Callable

import pytest
from tests.unit.stacks.config.alarm_edits import ON_DEMAND, with_alarms

from ultracluster_spec.alarms import Alarms
from ultracluster_spec.findings import Finding
from ultracluster_spec.values import broken_bounds
from ultracluster_stacks.config import LoadedRollout

THRESHOLDS = {
    "idle_percent": (0, 100),
    "idle_minutes": (1, 60),
    "drain_minutes": (1, 10_080),
    "wait_minutes": (1, 1_440),
    "collective_percent": (1, 100),
    "stalled_steps": (2, 1_000),
    "free_percent": (1, 90),
    "cache_misses": (1, 100_000),
}


def test_a_capacity_block_has_alarms_by_default_and_other_capacity_has_not(
    load: Callable[..., LoadedRollout],
) -> None:
    by_default = load().config.waves[0].clusters[0].effective_alarms
    assert by_default is not None
    assert by_default == Alarms(dashboard=False)
    assert load(ON_DEMAND).config.waves[0].clusters[0].effective_alarms is None
    disabled = with_alarms("{enabled: false}")
    assert load(disabled).config.waves[0].clusters[0].effective_alarms is None
    asked = load(with_alarms("{idle_minutes: 5}"), ON_DEMAND).config.waves[0].clusters[0].effective_alarms
    assert asked is not None
    assert (asked.idle_minutes, asked.dashboard) == (5, True)


@pytest.mark.parametrize(("name", "bounds"), THRESHOLDS.items())
def test_a_threshold_has_bounds_in_a_file_and_in_python(
    findings: Callable[..., list[Finding]], name: str, bounds: tuple[int, int]
) -> None:
    least, most = bounds
    for value, codes in ((least, []), (most, []), (least - 1, ["UC6440"]), (most + 1, ["UC6440"])):
        found = findings(with_alarms(f"{{emails: [a@example.com], {name}: {value}}}"))
        assert [each.code for each in found] == codes
        assert [(each.code, each.path) for each in broken_bounds(Alarms(**{name: value}))] == [
            (code, name) for code in codes
        ]
