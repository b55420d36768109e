"""Alarms of a cluster in a rollout file."""

from collections.abc import Callable

import pytest
from tests.unit.stacks.config.alarm_edits import ON_DEMAND, with_alarms

from ultracluster_catalog.observability.alarms import THRESHOLD_BOUNDS, AlarmThresholds
from ultracluster_rules.findings import Finding
from ultracluster_spec.alarms import Alarms
from ultracluster_stacks.config import LoadedRollout


def test_a_capacity_block_has_alarms_by_default_and_other_capacity_has_not(
    load: Callable[..., LoadedRollout],
) -> None:
    by_default = load().config.waves[0].clusters[0].effective_alarms
    assert by_default is not None
    assert (by_default.thresholds, by_default.dashboard) == (AlarmThresholds(), False)
    assert load(ON_DEMAND).config.waves[0].clusters[0].effective_alarms is None
    disabled = with_alarms("{enabled: false}")
    assert load(disabled).config.waves[0].clusters[0].effective_alarms is None
    asked = load(with_alarms("{idle_minutes: 5}"), ON_DEMAND).config.waves[0].clusters[0].effective_alarms
    assert asked is not None
    assert (asked.idle_minutes, asked.dashboard) == (5, True)


@pytest.mark.parametrize(
    ("alarms", "code", "path"),
    [
        ("{emails: [a@example.com], idle_minutes: 61}", "UC6440", "idle_minutes"),
    ],
)
def test_refuses_recipients_that_nothing_reaches(
    findings: Callable[..., list[Finding]], alarms: str, code: str, path: str
) -> None:
    found = findings(with_alarms(alarms))
    assert [(each.code, each.path) for each in found] == [(code, f"waves[0].clusters[0].alarms.{path}")]


@pytest.mark.parametrize(("name", "bounds"), THRESHOLD_BOUNDS.items())
def test_thresholds_have_the_bounds_and_defaults_of_the_catalogue(
    findings: Callable[..., list[Finding]], name: str, bounds: tuple[int, int]
) -> None:
    assert [
        each.code
        for value in bounds
        for each in findings(with_alarms(f"{{emails: [a@example.com], {name}: {value}}}"))
    ] == []
    assert [
        each.code for each in findings(with_alarms(f"{{emails: [a@example.com], {name}: {bounds[1] + 1}}}"))
    ] == ["UC6440"]
    assert Alarms(**{name: bounds[0]}).thresholds == AlarmThresholds(**{name: bounds[0]})
