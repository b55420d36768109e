"""Lambda function of `ClusterWatch`: publish metrics of a cluster in CloudWatch's embedded metric format."""

import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any

import boto3
from botocore.config import Config

from ultracluster_catalog.observability.metrics import CLUSTER_DIMENSION, METRICS, NAMESPACE
from ultracluster_runtime.watch.describe import Clients, WatchedCluster, observe
from ultracluster_runtime.watch.metrics import compute_metrics

# The function runs every minute, so calls that hang are cut off early.
_CONFIG = Config(connect_timeout=3, read_timeout=10, retries={"mode": "standard", "total_max_attempts": 3})


@cache
def _clients() -> Clients:
    return Clients(**{name: boto3.client(name, config=_CONFIG) for name in ("batch", "cloudwatch", "ec2")})


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
    print(embedded(compute_metrics(observe(watched, _clients(), now)), cluster=watched.cluster, now=now))  # noqa: T201 - CloudWatch reads the metrics from the log
