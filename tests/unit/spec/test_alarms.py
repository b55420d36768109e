"""Alarms, their recipients and the budget of a cluster."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.unit.stacks.config.capacity_edits import lines

from ultracluster_spec.alarms import Alarms, check_budget, check_recipients
from ultracluster_spec.findings import Finding
from ultracluster_spec.values import broken_bounds
from ultracluster_stacks.config import LoadedRollout

ON_DEMAND = ("market_type: capacity-block", "market_type: on-demand")
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
    disabled = lines("alarms: {enabled: false}")
    assert load(disabled).config.waves[0].clusters[0].effective_alarms is None
    asked = load(lines("alarms: {idle_minutes: 5}"), ON_DEMAND).config.waves[0].clusters[0].effective_alarms
    assert asked is not None
    assert (asked.idle_minutes, asked.dashboard) == (5, True)


@pytest.mark.parametrize(("name", "bounds"), THRESHOLDS.items())
def test_a_threshold_has_bounds_in_a_file_and_in_python(
    findings: Callable[..., list[Finding]], name: str, bounds: tuple[int, int]
) -> None:
    least, most = bounds
    for value, codes in ((least, []), (most, []), (least - 1, ["UC6440"]), (most + 1, ["UC6440"])):
        found = findings(lines(f"alarms: {{emails: [a@example.com], {name}: {value}}}"))
        assert [each.code for each in found] == codes
        assert [(each.code, each.path) for each in broken_bounds(Alarms(**{name: value}))] == [
            (code, name) for code in codes
        ]


TOPIC = "arn:aws:sns:us-east-2:123456789012:alarms"


@pytest.mark.parametrize(
    ("recipients", "path"),
    [
        (["jane"], "notify[0]"),
        (["a@example.com", "a@example.com"], "notify[1]"),
        ([TOPIC, "a@example.com", f"{TOPIC}2"], "notify[2]"),
        ([None, TOPIC], "notify[1]"),
        ([TOPIC.replace("us-east-2", "us-west-2")], "notify[0]"),
    ],
)
def test_refuses_recipients_that_nothing_reaches(recipients: list[str | None], path: str) -> None:
    assert [(each.code, each.path) for each in check_recipients(recipients, region="us-east-2")] == [
        ("UC6449", path)
    ]


@pytest.mark.parametrize(
    "recipients", [[], [TOPIC], [None, "a@example.com"], ["a@example.com", "b@example.com", TOPIC]]
)
def test_takes_addresses_and_one_topic(recipients: list[str | None]) -> None:
    assert check_recipients(recipients, region="us-east-2") == []


def test_only_the_limit_is_needed_and_no_queue_is_closed_unasked(load: Callable[..., LoadedRollout]) -> None:
    budget = load(lines("budget: {monthly_usd: 50000}")).config.waves[0].clusters[0].budget

    assert budget is not None
    assert (budget.actual_percents, budget.forecast_percents) == ((50, 80, 100), (100,))
    assert (budget.close_queues_at_percent, budget.emails) == (None, ())
    assert load().config.waves[0].clusters[0].budget is None


def budget_findings(**changes: Any) -> list[str]:
    budget: dict[str, Any] = {
        "monthly_usd": 50_000,
        "actual_percents": (50, 100),
        "forecast_percents": (100,),
        "close_at_percent": None,
        "emails": (),
    }
    return [str(finding) for finding in check_budget(**{**budget, **changes})]


PERCENT = "Allowed: each once, above 0 and up to 1,000,000 percent."
ADDRESS = "Allowed: up to 10 email addresses, such as jane@example.com."


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"monthly_usd": 0}, "UC6360: monthly_usd: got 0. Allowed: more than 0 US dollars."),
        ({"monthly_usd": -1}, "UC6360: monthly_usd: got -1. Allowed: more than 0 US dollars."),
        ({"monthly_usd": float("inf")}, "UC6360: monthly_usd: got inf. Allowed: more than 0 US dollars."),
        ({"monthly_usd": float("nan")}, "UC6360: monthly_usd: got nan. Allowed: more than 0 US dollars."),
        ({"actual_percents": (0,)}, f"UC6361: actual_percents: got [0]. {PERCENT}"),
        ({"actual_percents": (50, 50)}, f"UC6361: actual_percents: got [50, 50]. {PERCENT}"),
        ({"forecast_percents": (1_000_001,)}, f"UC6361: forecast_percents: got [1000001]. {PERCENT}"),
        ({"close_at_percent": 0}, f"UC6361: close_at_percent: got [0]. {PERCENT}"),
        (
            {"actual_percents": (), "forecast_percents": ()},
            "UC6361: actual_percents: got 0 thresholds. Allowed: 1 to 10.",
        ),
        (
            {"actual_percents": range(1, 10), "close_at_percent": 10},
            "UC6361: actual_percents: got 11 thresholds. Allowed: 1 to 10.",
        ),
        *(
            ({"emails": (address,)}, f"UC6362: emails: got {address!r}. {ADDRESS}")
            for address in ("jane", "@example.com", "jane@", "jane@localhost", "ja ne@example.com", "a.b@c")
        ),
        (
            {"emails": ("jane@example.com", "j\n@example.com")},
            f"UC6362: emails: got 'j\\n@example.com'. {ADDRESS}",
        ),
        (
            {"emails": tuple(f"j{number}@example.com" for number in range(11))},
            f"UC6362: emails: got 11 addresses. {ADDRESS}",
        ),
    ],
)
def test_refuses_what_aws_does_not_take(changes: dict[str, Any], line: str) -> None:
    assert budget_findings(**changes) == [line]


@pytest.mark.parametrize(
    "changes",
    [
        {"monthly_usd": 0.01},
        {"actual_percents": (0.5, 1_000_000)},
        {"actual_percents": (), "forecast_percents": (), "close_at_percent": 1},
        {"actual_percents": range(1, 10)},
        {"actual_percents": range(1, 10), "close_at_percent": 9},
        {"emails": tuple(f"j{number}@example.com" for number in range(10))},
        {"emails": ('"j@ne"@example.com',)},
    ],
)
def test_takes_what_is_just_allowed(changes: dict[str, Any]) -> None:
    assert budget_findings(**changes) == []
