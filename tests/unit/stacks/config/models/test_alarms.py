"""Alarms of a cluster in a rollout file."""

from collections.abc import Callable

import pytest

from ultracluster_catalog.observability.alarms import THRESHOLD_BOUNDS, AlarmThresholds
from ultracluster_rules.findings import Finding
from ultracluster_stacks.config import LoadedRollout
from ultracluster_stacks.config.models.alarms import AlarmsConfig

_BEFORE = "        network: {cidr: 10.0.0.0/16}\n"
_TOPIC = "arn:aws:sns:us-east-2:123456789012:alarms"


def given(alarms: str) -> tuple[str, str]:
    return (_BEFORE, f"{_BEFORE}        alarms: {alarms}\n")


_NO_NOTIFY = ("        notify: [ml@example.com]\n", "")
_ON_DEMAND = ("market_type: capacity-block", "market_type: on-demand")


def test_a_capacity_block_has_alarms_by_default_and_other_capacity_has_not(
    load: Callable[..., LoadedRollout],
) -> None:
    by_default = load().config.waves[0].clusters[0].effective_alarms
    assert by_default is not None
    assert (by_default.thresholds, by_default.dashboard) == (AlarmThresholds(), False)
    on_demand = load(_ON_DEMAND).config.waves[0].clusters[0]
    assert on_demand.effective_alarms is None
    assert load(given("{enabled: false}")).config.waves[0].clusters[0].effective_alarms is None
    asked = load(given("{idle_minutes: 5}"), _ON_DEMAND).config.waves[0].clusters[0].effective_alarms
    assert asked is not None
    assert (asked.idle_minutes, asked.dashboard) == (5, True)


@pytest.mark.parametrize(
    ("edits", "codes"),
    [
        ([_NO_NOTIFY], ["UC6448"]),
        ([_NO_NOTIFY, given("{enabled: false}")], ["UC6448"]),
        ([_NO_NOTIFY, given("{emails: [ml@example.com]}")], []),
        ([_NO_NOTIFY, given("{enabled: false, emails: [ml@example.com]}")], ["UC6448"]),
        ([_NO_NOTIFY, _ON_DEMAND], []),
        ([("[ml@example.com]", "[nobody]")], ["UC6449"]),
        ([("[ml@example.com]", "[a@example.com, b@example.com, a@example.com]")], ["UC6449"]),
        ([("[ml@example.com]", f'["{_TOPIC}"]')], []),
        ([("[ml@example.com]", f'["{_TOPIC}", a@example.com]')], ["UC6449"]),
        ([("[ml@example.com]", f'["{_TOPIC.replace("us-east-2", "us-east-1")}"]')], ["UC6449"]),
    ],
)
def test_a_capacity_block_has_somebody_to_notify(
    findings: Callable[..., list[Finding]], edits: list[tuple[str, str]], codes: list[str]
) -> None:
    assert [each.code for each in findings(*edits)] == codes


@pytest.mark.parametrize(
    "alarms", ["{emails: [ml@example.com, on-call@example.com]}", f'{{topic_arn: "{_TOPIC}"}}']
)
def test_alarms_can_be_asked_for_without_anything_else(
    findings: Callable[..., list[Finding]], alarms: str
) -> None:
    assert findings(given(alarms)) == []


def test_warns_of_alarms_that_nobody_is_told_of(findings: Callable[..., list[Finding]]) -> None:
    assert [each.code for each in findings(given("{}"), _NO_NOTIFY, _ON_DEMAND)] == ["UC2250"]
    assert findings(given("{}")) == []


@pytest.mark.parametrize(
    ("alarms", "code", "path"),
    [
        ("{emails: [nobody]}", "UC6446", "emails[0]"),
        ("{emails: [a@example.com, b@example.com, a@example.com]}", "UC6446", "emails[2]"),
        (f'{{emails: [a@example.com], topic_arn: "{_TOPIC}"}}', "UC6445", "emails"),
        ('{topic_arn: "alarms"}', "UC6447", "topic_arn"),
        (f'{{topic_arn: "{_TOPIC.replace("us-east-2", "us-east-1")}"}}', "UC6447", "topic_arn"),
        ("{emails: [a@example.com], idle_minutes: 61}", "UC6440", "idle_minutes"),
    ],
)
def test_refuses_what_would_tell_nobody_and_shows_where(
    findings: Callable[..., list[Finding]], alarms: str, code: str, path: str
) -> None:
    found = findings(given(alarms))
    assert [(each.code, each.path) for each in found] == [(code, f"waves[0].clusters[0].alarms.{path}")]


@pytest.mark.parametrize(("name", "bounds"), THRESHOLD_BOUNDS.items())
def test_thresholds_have_the_bounds_and_defaults_of_the_catalogue(
    findings: Callable[..., list[Finding]], name: str, bounds: tuple[int, int]
) -> None:
    assert [
        each.code
        for value in bounds
        for each in findings(given(f"{{emails: [a@example.com], {name}: {value}}}"))
    ] == []
    assert [
        each.code for each in findings(given(f"{{emails: [a@example.com], {name}: {bounds[1] + 1}}}"))
    ] == ["UC6440"]
    assert AlarmsConfig(**{name: bounds[0]}).thresholds == AlarmThresholds(**{name: bounds[0]})
