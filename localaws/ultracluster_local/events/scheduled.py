"""Scheduled rules and EventBridge schedules that fire between two times."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from moto.events.models import events_backends
from moto.scheduler.models import scheduler_backends

from ultracluster_local.events.delivery import deliver, new_event
from ultracluster_local.events.schedule_expressions import due_times
from ultracluster_local.instance.environment import ACCOUNT

__all__ = ["Firing", "firings"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Firing:
    """One due time of a rule or schedule.

    Attributes:
        moment: Due time.
        fire: Sends the event, unless the rule or schedule was changed, disabled or deleted meanwhile.
    """

    moment: datetime
    fire: Callable[[], None]


def firings(after: datetime, until: datetime, *, most: int) -> list[Firing]:
    """Return the rules and schedules that fire between two times, in order.

    Args:
        after: Start, exclusive.
        until: End, inclusive.
        most: Maximum firings of each rule or schedule. If it is due more often, its firings are spread evenly
            over its due times, the last included.

    Raises:
        ValueError: If a schedule expression is not supported.
    """
    found = [*_rules(after, until, most), *_schedules(after, until, most)]
    return sorted(found, key=lambda firing: firing.moment)


def _thinned(times: list[datetime], most: int) -> list[datetime]:
    if len(times) <= most:
        return times
    return [times[(number + 1) * len(times) // most - 1] for number in range(most)]


def _rules(after: datetime, until: datetime, most: int) -> Iterator[Firing]:
    for region, backend in list(events_backends[ACCOUNT].items()):
        rules = backend.event_buses["default"].rules
        for name, rule in list(rules.items()):
            expression = rule.scheduled_expression
            if not expression or rule.state == "DISABLED":
                continue

            def fire(
                rules: Any = rules, name: str = name, expression: str = expression, region: str = region
            ) -> None:
                rule = rules.get(name)
                if rule is None or rule.state == "DISABLED" or rule.scheduled_expression != expression:
                    return
                event = new_event(
                    region=region,
                    source="aws.events",
                    detail_type="Scheduled Event",
                    detail={},
                    resources=[rule.arn],
                )
                for target in list(rule.targets):
                    deliver(target, event, rule=rule.arn, region=region)

            for moment in _thinned(list(due_times(expression, after=after, until=until)), most):
                yield Firing(moment=moment, fire=fire)


def _schedules(after: datetime, until: datetime, most: int) -> Iterator[Firing]:
    for region, backend in list(scheduler_backends[ACCOUNT].items()):
        for group in list(backend.schedule_groups.values()):
            for name, schedule in list(group.schedules.items()):
                expression = schedule.schedule_expression
                if schedule.state == "DISABLED":
                    continue

                def fire(
                    group: Any = group, name: str = name, expression: str = expression, region: str = region
                ) -> None:
                    schedule = group.schedules.get(name)
                    if (
                        schedule is None
                        or schedule.state == "DISABLED"
                        or schedule.schedule_expression != expression
                    ):
                        return
                    event = new_event(
                        region=region,
                        source="aws.scheduler",
                        detail_type="Scheduled Event",
                        detail="{}",
                        resources=[schedule.arn],
                    )
                    deliver(schedule.target, event, rule=schedule.arn, region=region)

                # A schedule's start and end dates limit its expression.
                start, end = (_moment(one) for one in (schedule.start_date, schedule.end_date))
                zone = schedule.schedule_expression_timezone
                due = due_times(expression, after=after, until=until, zone=zone)
                times = [one for one in due if (not start or one >= start) and (not end or one <= end)]
                for moment in _thinned(times, most):
                    yield Firing(moment=moment, fire=fire)


def _moment(stored: object) -> datetime | None:
    return datetime.fromtimestamp(float(str(stored)), UTC) if stored else None
