"""CloudWatch alarms and the evaluation of all alarms of a Region."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from ultracluster_local.alarms.alarm_rules import is_in_alarm
from ultracluster_local.alarms.evaluation import COMPARISONS, FURTHER_PERIODS, State, next_state
from ultracluster_local.alarms.insights import Insights
from ultracluster_local.alarms.metric_math import evaluate
from ultracluster_local.alarms.series import Metric, Series

__all__ = ["Alarms", "CompositeAlarm", "Expression", "MetricAlarm", "Query", "Transition"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Query:
    """A metric that an alarm evaluates.

    Attributes:
        metric: Metric.
        statistic: Statistic.
    """

    metric: Metric
    statistic: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Expression:
    """A metric math expression that an alarm evaluates.

    Attributes:
        text: Expression.
        queries: Metrics by ID.
    """

    text: str
    queries: Mapping[str, Query]


@dataclass(frozen=True, kw_only=True, slots=True)
class MetricAlarm:
    """An alarm on a metric, or on an expression of metrics.

    Attributes:
        name: Alarm name.
        watched: Metric, expression or query.
        period: Period in seconds.
        comparison: Comparison operator.
        threshold: Threshold.
        evaluation_periods: N in "M out of N".
        to_alarm: M in "M out of N".
        missing: Treatment of missing data.
    """

    name: str
    watched: Query | Expression | Insights
    period: int
    comparison: str
    threshold: float
    evaluation_periods: int
    to_alarm: int
    missing: str

    def state(self, series: Series, at: datetime, before: State) -> State:
        """Return the state of the alarm at a full minute; as in CloudWatch, its periods end there.

        Raises:
            ValueError: If it uses an unsupported feature.
        """
        if self.comparison not in COMPARISONS:
            raise ValueError(f"the local AWS does not support the comparison {self.comparison}")
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
        if isinstance(self.watched, Insights):
            return self.watched.value(series, until=until, period=self.period)
        return evaluate(
            self.watched.text, {name: value(query) for name, query in self.watched.queries.items()}
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class CompositeAlarm:
    """A composite alarm.

    Attributes:
        name: Alarm name.
        rule: Alarm rule.
    """

    name: str
    rule: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Transition:
    """A state change of an alarm, which triggers its actions.

    Attributes:
        at: Time.
        name: Alarm name.
        before: Previous state.
        state: New state.
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
        # A new alarm has not been evaluated yet.
        names = [each.name for each in self._alarms] + [each.name for each in self._composites]
        self.states: dict[str, State] = {name: known.get(name, "INSUFFICIENT_DATA") for name in names}

    def evaluate(self, series: Series, at: datetime) -> list[Transition]:
        """Evaluate all alarms at a full minute.

        Raises:
            ValueError: If one uses an unsupported feature.
        """
        changed = []
        for alarm in self._alarms:
            changed += self._go(alarm.name, alarm.state(series, at, self.states[alarm.name]), at)
        for composite in self._composites:
            changed += self._go(
                composite.name, "ALARM" if is_in_alarm(composite.rule, self.states) else "OK", at
            )
        return changed

    def _go(self, name: str, state: State, at: datetime) -> list[Transition]:
        before = self.states[name]
        if before == state:
            return []
        self.states[name] = state
        return [Transition(at=at, name=name, before=before, state=state)]
