"""The alarms of a cluster, as its template defines them, over a day that is made with a fixed seed: with faults and without."""

from collections.abc import Mapping
from random import Random
from typing import Any

import aws_cdk as cdk
import pytest
from tests.unit.ultracluster.builders import block, new_stack, ultra_cluster
from tests.unit.ultracluster.operations.recorded_run import (
    MINUTE,
    MINUTES,
    START,
    Run,
    free_share,
    record,
)

import ultracluster as uc
from ultracluster_local.alarms.alarm import Alarms, CompositeAlarm, Expression, MetricAlarm, Query, Transition
from ultracluster_local.alarms.insights import Insights
from ultracluster_local.alarms.series import Metric

pytestmark = pytest.mark.slow

# Minutes from the beginning of a fault to its alarm. Most need as many bad minutes as they have periods; the time without a step
# is five minutes before it counts at all, at this step time more than ten medians, and then must be seen twice.
WITHIN = {
    "Idle": 15,
    "Unused": 15,
    "DrainComing": 1,
    "CacheMisses": 1,
    "JobWaits": 3,
    "QueueBlocked": 5,
    "EnvironmentInvalid": 2,
    "NodeRefused": 1,
    "NodeLost": 5,
    "EfaMissing": 2,
    "NeuronMissing": 2,
    "TcpFallback": 3,
    "NodeFaulty": 1,
    "Ecc": 1,
    "CollectiveShare": 8,
    "StepStalled": 7,
    "FileSystemFull": 5,
}
FILE_SYSTEM = "fs-0123456789abcdef0"


@pytest.fixture(scope="module")
def template() -> Mapping[str, Any]:
    stack = new_stack()
    ultra_cluster(stack, capacity=block(), alarms=uc.Alarms(), cluster_name="pretrain")
    resources: Mapping[str, Any] = cdk.assertions.Template.from_stack(stack).to_json()["Resources"]
    return resources


def identity(logical_id: str) -> str:
    """Id of an alarm in its construct: what is between the construct's path and the CDK's hash."""
    return logical_id.removeprefix("ClusterAlarms")[:-8]


def query(shown: Mapping[str, Any], statistic: str) -> Query:
    dimensions = {each["Name"]: each["Value"] for each in shown["Dimensions"]}
    return Query(metric=Metric.of(shown["Namespace"], shown["MetricName"], dimensions), statistic=statistic)


def metric_alarm(name: str, shown: Mapping[str, Any]) -> MetricAlarm:
    watched: Query | Expression | Insights
    if len(shown.get("Metrics", ())) == 1:
        (asked_for,) = shown["Metrics"]
        parts = asked_for["Expression"]["Fn::Join"][1]
        text = "".join(part if isinstance(part, str) else FILE_SYSTEM for part in parts)
        watched, period = Insights(text=text), asked_for["Period"]
    elif "Metrics" in shown:
        asked = {each["Id"]: each["MetricStat"] for each in shown["Metrics"] if "MetricStat" in each}
        (text,) = [each["Expression"] for each in shown["Metrics"] if "Expression" in each]
        watched = Expression(
            text=text, queries={key: query(each["Metric"], each["Stat"]) for key, each in asked.items()}
        )
        (period,) = {each["Period"] for each in asked.values()}
    else:
        watched, period = query(shown, shown["Statistic"]), shown["Period"]
    return MetricAlarm(
        name=name,
        watched=watched,
        period=period,
        comparison=shown["ComparisonOperator"],
        threshold=shown["Threshold"],
        evaluation_periods=shown["EvaluationPeriods"],
        to_alarm=shown.get("DatapointsToAlarm", shown["EvaluationPeriods"]),
        missing=shown["TreatMissingData"],
    )


def alarms_of(template: Mapping[str, Any]) -> Alarms:
    alarms = [
        metric_alarm(identity(logical_id), each["Properties"])
        for logical_id, each in template.items()
        if each["Type"] == "AWS::CloudWatch::Alarm" and logical_id.startswith("ClusterAlarms")
    ]
    (rule,) = [
        each["Properties"]["AlarmRule"]["Fn::Join"][1]
        for each in template.values()
        if each["Type"] == "AWS::CloudWatch::CompositeAlarm"
    ]
    text = "".join(each if isinstance(each, str) else identity(each["Fn::GetAtt"][0]) for each in rule)
    return Alarms(alarms, [CompositeAlarm(name="Cluster", rule=text)])


def replay(template: Mapping[str, Any], run: Run, *, minutes: int = MINUTES) -> list[Transition]:
    alarms, series = alarms_of(template), record(run, file_system=FILE_SYSTEM, minutes=minutes)
    return [
        change
        for minute in range(1, minutes + 1)
        for change in alarms.evaluate(series, START + minute * MINUTE)
    ]


def raised(changes: list[Transition]) -> list[tuple[str, int]]:
    """Alarms and the minutes in which they went off, in order; without the composite one."""
    return [
        (each.name, (each.at - START) // MINUTE)
        for each in changes
        if each.state == "ALARM" and each.name != "Cluster"
    ]


def spread(names: tuple[str, ...], seed: int) -> dict[str, int]:
    """Where faults begin: in a drawn order, apart enough that each has ended before the next begins."""
    draw = Random(seed)  # noqa: S311 - a recording, not a secret
    order = draw.sample(names, len(names))
    room = (MINUTES - 120) // len(names)
    return {name: 60 + number * room + draw.randrange(room - 65) for number, name in enumerate(order)}


def expected(run: Run) -> list[tuple[str, int]]:
    when = {name: begins + WITHIN[name] for name, begins in run.faults.items()}
    if "FileSystemFull" in when:
        nearly = next(m for m in range(MINUTES) if free_share(run, m) < 0.1)
        when["FileSystemFull"] = nearly + WITHIN["FileSystemFull"]
    return sorted(when.items(), key=lambda each: each[1])


@pytest.mark.parametrize("names", [tuple(WITHIN)[:7], tuple(WITHIN)[7:]])
def test_every_alarm_goes_off_for_its_fault_and_for_no_other(
    template: Mapping[str, Any], names: tuple[str, ...]
) -> None:
    run = Run(faults=spread(names, seed=7))
    if "DrainComing" in run.faults:  # whoever drains, drains at the end
        run = Run(faults={**run.faults, "DrainComing": MINUTES - 30})
    changes = replay(template, run)
    assert raised(changes) == expected(run)
    # The composite alarm is there exactly while one of them is; the day ends before the drain does.
    states = [each.state for each in changes if each.name == "Cluster"]
    assert states == (["OK"] + ["ALARM", "OK"] * len(names))[: -1 if "DrainComing" in names else None]


def test_a_watch_that_stops_is_missed(template: Mapping[str, Any]) -> None:
    alarms, series = alarms_of(template), record(Run(), file_system=FILE_SYSTEM)
    silent_from = MINUTES
    went_off = [
        minute
        for minute in range(MINUTES - 3, MINUTES + 12)
        for each in alarms.evaluate(series, START + minute * MINUTE)
        if (each.name, each.state) == ("WatchSilent", "ALARM")
    ]
    # CloudWatch looks at two periods more than the five, so the last good one counts for seven minutes.
    assert went_off == [silent_from + 7]
