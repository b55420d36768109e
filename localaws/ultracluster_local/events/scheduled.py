"""Scheduled rules and EventBridge schedules that fire between two times."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

from moto.events.models import events_backends
from moto.scheduler.models import scheduler_backends

from ultracluster_local.events.delivery import deliver, new_event
from ultracluster_local.instance.environment import ACCOUNT
from ultracluster_local.services.messaging.schedule_expressions import due_times

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
            times = _thinned(list(due_times(expression, after=after, until=until)), most)
            fire = partial(_fire_rule, region)
            yield from _unless_changed(rules, name, "scheduled_expression", fire, times)


def _fire_rule(region: str, rule: Any) -> None:
    event = _event(region, "aws.events", {}, rule.arn)
    for target in list(rule.targets):
        deliver(target, event, rule=rule.arn, region=region)


def _schedules(after: datetime, until: datetime, most: int) -> Iterator[Firing]:
    for region, backend in list(scheduler_backends[ACCOUNT].items()):
        for group in list(backend.schedule_groups.values()):
            for name, schedule in list(group.schedules.items()):
                if schedule.state == "DISABLED":
                    continue
                # A schedule's start and end dates limit its expression.
                start, end = (_moment(one) for one in (schedule.start_date, schedule.end_date))
                zone, expression = schedule.schedule_expression_timezone, schedule.schedule_expression
                due = due_times(expression, after=after, until=until, zone=zone)
                times = [one for one in due if (not start or one >= start) and (not end or one <= end)]
                fire = partial(_fire_schedule, region, group)
                yield from _unless_changed(
                    group.schedules, name, "schedule_expression", fire, _thinned(times, most)
                )


def _fire_schedule(region: str, group: Any, schedule: Any) -> None:
    event = _event(region, "aws.scheduler", "{}", schedule.arn)
    deliver(schedule.target, event, rule=schedule.arn, region=region)
    if schedule.schedule_expression.startswith("at(") and schedule.action_after_completion == "DELETE":
        group.delete_schedule(schedule.name)


def _event(region: str, source: str, detail: Any, arn: str) -> Any:
    return new_event(
        region=region, source=source, detail_type="Scheduled Event", detail=detail, resources=[arn]
    )


def _unless_changed(
    known: Mapping[str, Any],
    name: str,
    member: str,
    fire: Callable[[Any], None],
    times: list[datetime],
) -> Iterator[Firing]:
    """Yield the firings of a rule or schedule, which look it up again when they are due."""
    expression = getattr(known[name], member)

    def fire_it() -> None:
        found = known.get(name)
        if found is not None and found.state != "DISABLED" and getattr(found, member) == expression:
            fire(found)

    for moment in times:
        yield Firing(moment=moment, fire=fire_it)


def _moment(stored: object) -> datetime | None:
    return datetime.fromtimestamp(float(str(stored)), UTC) if stored else None
