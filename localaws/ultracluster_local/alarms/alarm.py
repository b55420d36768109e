"""Alarms as CloudWatch keeps them, and one look at all of them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from ultracluster_local.alarms.alarm_rules import holds
from ultracluster_local.alarms.evaluation import COMPARISONS, FURTHER_PERIODS, State, next_state
from ultracluster_local.alarms.metric_math import evaluate
from ultracluster_local.alarms.series import Metric, Series

__all__ = ["Alarms", "CompositeAlarm", "Expression", "MetricAlarm", "Query", "Transition"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Query:
    """A metric that an alarm looks at.

    Attributes:
        metric: The metric.
        statistic: Its statistic.
    """

    metric: Metric
    statistic: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Expression:
    """What an alarm computes from metrics.

    Attributes:
        text: The metric math.
        queries: Its metrics by their ids.
    """

    text: str
    queries: Mapping[str, Query]


@dataclass(frozen=True, kw_only=True, slots=True)
class MetricAlarm:
    """An alarm on a metric, or on an expression of metrics.

    Attributes:
        name: Its name.
        watched: What it looks at.
        period: Seconds of a period.
        comparison: Name of the comparison.
        threshold: What is compared with.
        evaluation_periods: N of M out of N.
        to_alarm: M.
        missing: How missing data is treated.
    """

    name: str
    watched: Query | Expression
    period: int
    comparison: str
    threshold: float
    evaluation_periods: int
    to_alarm: int
    missing: str

    def state(self, series: Series, at: datetime, before: State) -> State:
        """Give its state at a full minute; periods end there, as CloudWatch lets them slide by the minute.

        Raises:
            ValueError: If it uses something that is not known here.
        """
        if self.comparison not in COMPARISONS:
            raise ValueError(f"the local AWS does not know the comparison {self.comparison}")
        compare = COMPARISONS[self.comparison]
        points: list[bool | None] = []
        for back in range(self.evaluation_periods + FURTHER_PERIODS - 1, -1, -1):
            value = self._value(series, at - back * timedelta(seconds=self.period))
            points.append(None if value is None else compare(value, self.threshold))
        return next_state(
            points,
            evaluation_periods=self.evaluation_periods,
            to_alarm=self.to_alarm,
            missing=self.missing,
            before=before,
        )

    def _value(self, series: Series, until: datetime) -> float | None:
        def value(query: Query) -> float | None:
            return series.value(query.metric, query.statistic, until=until, period=self.period)

        if isinstance(self.watched, Query):
            return value(self.watched)
        return evaluate(
            self.watched.text, {name: value(query) for name, query in self.watched.queries.items()}
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class CompositeAlarm:
    """An alarm on the states of others.

    Attributes:
        name: Its name.
        rule: Its rule.
    """

    name: str
    rule: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Transition:
    """An alarm that changed its state; only then CloudWatch acts.

    Attributes:
        at: When.
        name: Of the alarm.
        before: Its state until then.
        state: Its state from then on.
    """

    at: datetime
    name: str
    before: State
    state: State


class Alarms:
    """All alarms of a Region with their states."""

    def __init__(
        self,
        alarms: Iterable[MetricAlarm],
        composites: Sequence[CompositeAlarm] = (),
        *,
        states: Mapping[str, State] | None = None,
    ) -> None:
        self._alarms = list(alarms)
        self._composites = list(composites)
        known = states or {}
        # A new alarm has looked at nothing yet.
        names = [each.name for each in self._alarms] + [each.name for each in self._composites]
        self.states: dict[str, State] = {name: known.get(name, "INSUFFICIENT_DATA") for name in names}

    def look(self, series: Series, at: datetime) -> list[Transition]:
        """Evaluate all of them at a full minute.

        Raises:
            ValueError: If one uses something that is not known here.
        """
        changed = []
        for alarm in self._alarms:
            changed += self._go(alarm.name, alarm.state(series, at, self.states[alarm.name]), at)
        for composite in self._composites:
            changed += self._go(composite.name, "ALARM" if holds(composite.rule, self.states) else "OK", at)
        return changed

    def _go(self, name: str, state: State, at: datetime) -> list[Transition]:
        before = self.states[name]
        if before == state:
            return []
        self.states[name] = state
        return [Transition(at=at, name=name, before=before, state=state)]
