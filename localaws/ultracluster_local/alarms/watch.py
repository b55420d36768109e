"""Evaluate moto's alarms at each minute of a move of the clock and run their actions."""

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, cast

from moto.cloudwatch.models import MetricAggregatedDatum, cloudwatch_backends

from ultracluster_local.alarms.alarm import Alarms, CompositeAlarm, Expression, MetricAlarm, Query, Transition
from ultracluster_local.alarms.evaluation import State
from ultracluster_local.alarms.insights import Insights
from ultracluster_local.alarms.series import Metric, Series
from ultracluster_local.instance.environment import ACCOUNT
from ultracluster_local.instance.running import running

__all__ = ["AlarmWatch"]

_MINUTE = timedelta(minutes=1)


class AlarmWatch:
    """Alarms of all Regions during one move of the clock; data points are read once."""

    def __init__(self) -> None:
        self._series: dict[str, tuple[Series, int]] = {}

    def evaluate(self, after: datetime, until: datetime) -> None:
        """Evaluate all alarms at each full minute after one time up to another.

        Raises:
            ValueError: If an alarm uses an unsupported feature.
        """
        at = after.replace(second=0, microsecond=0) + _MINUTE
        while at <= until:
            for region, backend in list(cloudwatch_backends[ACCOUNT].items()):
                if backend.alarms:
                    self._look_at(region, backend, at)
            at += _MINUTE

    def _look_at(self, region: str, backend: Any, at: datetime) -> None:
        kept = backend.alarms
        metric_alarms = [_metric_alarm(each) for each in kept.values() if not each.rule]
        composites = [CompositeAlarm(name=each.name, rule=each.rule) for each in kept.values() if each.rule]
        # CloudWatch's alarms start with INSUFFICIENT_DATA, moto's with OK.
        states = {name: cast("State", alarm.state_value) for name, alarm in kept.items() if alarm.history}
        alarms = Alarms(metric_alarms, composites, states=states)
        for change in alarms.evaluate(self._data(region, backend), at):
            _change(kept[change.name], change, region=region)

    def _data(self, region: str, backend: Any) -> Series:
        series, read = self._series.get(region, (Series(), 0))
        for datum in backend.metric_data[read:]:
            metric = Metric.of(
                datum.namespace, datum.name, {each.name: each.value for each in datum.dimensions}
            )
            if isinstance(datum, MetricAggregatedDatum):
                series.add_statistics(
                    metric,
                    datum.timestamp,
                    count=datum.sample_count,
                    total=datum.sum,
                    least=datum.min,
                    most=datum.max,
                )
            else:
                series.add(metric, datum.timestamp, datum.value)
        self._series[region] = (series, len(backend.metric_data))
        return series


def _metric_alarm(kept: Any) -> MetricAlarm:
    watched, period = _watched(kept)
    return MetricAlarm(
        name=kept.name,
        watched=watched,
        period=period,
        comparison=kept.comparison_operator.removesuffix("Threshold") + "Threshold",
        threshold=float(kept.threshold),
        evaluation_periods=int(kept.evaluation_periods),
        to_alarm=int(kept.datapoints_to_alarm or kept.evaluation_periods),
        missing=kept.treat_missing_data or "missing",
    )


def _watched(kept: Any) -> tuple[Query | Expression | Insights, int]:
    if not kept.metric_data_queries:
        dimensions = {each.name: each.value for each in kept.dimensions}
        metric = Metric.of(kept.namespace, kept.metric_name, dimensions)
        return Query(metric=metric, statistic=kept.statistic), int(kept.period)
    first = kept.metric_data_queries[0]
    if len(kept.metric_data_queries) == 1 and (first.expression or "").startswith("SELECT "):
        return Insights(text=first.expression), int(first.period)
    queries: dict[str, Query] = {}
    texts = []
    periods = set()
    for each in kept.metric_data_queries:
        if each.metric_stat is None:
            texts.append(each.expression)
            continue
        asked = each.metric_stat
        dimensions = {one.name: one.value for one in asked.metric.dimensions}
        metric = Metric.of(asked.metric.namespace, asked.metric.metric_name, dimensions)
        queries[each.id] = Query(metric=metric, statistic=asked.stat)
        periods.add(int(asked.period))
    if len(texts) != 1 or len(periods) != 1:
        raise ValueError(
            f"the local AWS evaluates alarms with one expression over metrics of one period; {kept.name} has others"
        )
    return Expression(text=texts[0], queries=queries), periods.pop()


def _change(kept: Any, change: Transition, *, region: str) -> None:
    reason = f"{change.before} to {change.state} at {change.at:%Y-%m-%dT%H:%M:%SZ}"
    kept.update_state(reason, "{}", change.state)
    if not kept.actions_enabled:
        return
    actions: Mapping[str, list[str]] = {
        "ALARM": kept.alarm_actions,
        "OK": kept.ok_actions,
        "INSUFFICIENT_DATA": kept.insufficient_data_actions,
    }
    for arn in actions[change.state] or []:
        if arn.split(":")[2] != "sns":
            raise ValueError(f"the local AWS can send alarms to SNS topics only; {kept.name} has {arn}")
        message = {
            "AlarmName": kept.name,
            "AlarmDescription": kept.description,
            "NewStateValue": change.state,
            "OldStateValue": change.before,
            "NewStateReason": reason,
            "StateChangeTime": f"{change.at:%Y-%m-%dT%H:%M:%S.000+0000}",
            "Region": region,
            "AlarmArn": kept.alarm_arn,
        }
        running().clients.get("sns", region).publish(
            TopicArn=arn, Subject=f'{change.state}: "{kept.name}"'[:100], Message=json.dumps(message)
        )
