"""Lambda function of `ClusterWatch`: publish metrics of a cluster in CloudWatch's embedded metric format."""

import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from ultracluster_catalog.observability.metrics import CLUSTER_DIMENSION, METRICS, NAMESPACE
from ultracluster_runtime.functions.clients import OF_FUNCTIONS, Clients
from ultracluster_runtime.watch.describe import WatchedCluster, observe
from ultracluster_runtime.watch.metrics import compute_metrics

_CLIENTS: Final = Clients(config=OF_FUNCTIONS)


def embedded(metrics: Mapping[str, float], *, cluster: str, now: datetime) -> str:
    """Return a log event in the embedded metric format, from values by metric name in `ultracluster_catalog.METRICS`."""
    directive = {
        "Namespace": NAMESPACE,
        "Dimensions": [[CLUSTER_DIMENSION]],
        "Metrics": [{"Name": name, "Unit": METRICS[name].unit} for name in metrics],
    }
    about = {"Timestamp": int(now.timestamp() * 1000), "CloudWatchMetrics": [directive]}
    return json.dumps({"_aws": about, CLUSTER_DIMENSION: cluster, **metrics})


def _given(name: str) -> tuple[str, ...]:
    return tuple(filter(None, os.environ[name].split(",")))


def handler(event: dict[str, Any], context: Any) -> None:  # noqa: ARG001 - Lambda's signature
    """Publish the metrics of the cluster of this function."""
    watched = WatchedCluster(
        cluster=os.environ["UC_CLUSTER"],
        job_queues=_given("UC_JOB_QUEUES"),
        reservations=_given("UC_RESERVATIONS"),
        instance_profiles=_given("UC_INSTANCE_PROFILES"),
        without_reservation=os.environ["UC_WITHOUT_RESERVATION"] == "yes",
    )
    now = datetime.now(UTC)
    print(embedded(compute_metrics(observe(watched, _CLIENTS, now)), cluster=watched.cluster, now=now))  # noqa: T201 - CloudWatch reads the metrics from the log
