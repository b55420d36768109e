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


def test_nobody_looks_unless_told(load: Callable[..., LoadedRollout]) -> None:
    assert load().config.waves[0].clusters[0].alarms is None


@pytest.mark.parametrize(
    "alarms", ["{emails: [ml@example.com, on-call@example.com]}", f'{{topic_arn: "{_TOPIC}"}}']
)
def test_alarms_can_be_asked_for_without_anything_else(
    findings: Callable[..., list[Finding]], alarms: str
) -> None:
    assert findings(given(alarms)) == []


def test_warns_of_alarms_that_nobody_is_told_of(findings: Callable[..., list[Finding]]) -> None:
    assert [each.code for each in findings(given("{}"))] == ["UC2250"]


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
