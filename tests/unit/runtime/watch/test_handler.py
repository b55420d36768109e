"""Publishing the metrics of a watch."""

import json

from tests.unit.runtime.watch.watched_cluster import HOUR, NOW, observations, steps

from ultracluster_catalog.observability.metrics import METRICS
from ultracluster_runtime.watch.handler import embedded
from ultracluster_runtime.watch.metrics import WaitingJob, compute_metrics

COUNTS = (
    "PaidNodes", "UnusedNodes", "RunningNodes", "NodesReporting", "NodesRefused", "InvalidEnvironments",
    "RunnableJobs", "RunningJobs", "BlockedJobs",
)  # fmt: skip
UNITS = dict.fromkeys(COUNTS, "Count") | {
    "WaitSeconds": "Seconds",
    "SecondsToDrain": "Seconds",
    "StepLateness": "None",
}


def test_publishes_metrics_of_the_catalogue_only_and_all_that_it_is_listed_for() -> None:
    waiting = (WaitingJob(since=NOW, reason=""),)
    got = compute_metrics(observations(waiting=waiting, steps=steps(last=NOW - HOUR / 2)))
    event = json.loads(embedded(got, cluster="pretrain", now=NOW))
    (directive,) = event["_aws"]["CloudWatchMetrics"]
    assert event["Cluster"] == "pretrain"
    assert directive["Dimensions"] == [["Cluster"]]
    assert {each["Name"]: each["Unit"] for each in directive["Metrics"]} == UNITS
    assert {
        name: each.unit for name, each in METRICS.items() if each.source == "watch"
    }.items() <= UNITS.items()
