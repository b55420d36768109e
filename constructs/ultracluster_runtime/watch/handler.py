"""The Lambda function behind `ClusterWatch`: looks once, and prints what it saw in CloudWatch's embedded metric format."""

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

__all__ = ["embedded", "handler"]

# A look lasts less than a minute, because the next one comes then.
_CONFIG = Config(connect_timeout=3, read_timeout=10, retries={"mode": "standard", "total_max_attempts": 3})


@cache
def _clients() -> Clients:
    return Clients(**{name: boto3.client(name, config=_CONFIG) for name in ("batch", "cloudwatch", "ec2")})


def embedded(metrics: Mapping[str, float], *, cluster: str, now: datetime) -> str:
    """Write metrics of a cluster as a log event that CloudWatch Logs takes them from.

    Args:
        metrics: Values by the names of `ultracluster_catalog.METRICS`.
        cluster: Name of the cluster.
        now: When they were seen.
    """
    directive = {
        "Namespace": NAMESPACE,
        "Dimensions": [[CLUSTER_DIMENSION]],
        "Metrics": [{"Name": name, "Unit": METRICS[name].unit} for name in metrics],
    }
    about = {"Timestamp": int(now.timestamp() * 1000), "CloudWatchMetrics": [directive]}
    return json.dumps({"_aws": about, CLUSTER_DIMENSION: cluster, **metrics})


def _given(name: str) -> tuple[str, ...]:
    return tuple(filter(None, os.environ[name].split(",")))


def handler(event: dict[str, Any], context: Any) -> None:  # noqa: ARG001 - the signature is Lambda's
    """Look at the cluster of this function once.

    Args:
        event: What woke it.
        context: Lambda's context.
    """
    watched = WatchedCluster(
        cluster=os.environ["UC_CLUSTER"],
        job_queues=_given("UC_JOB_QUEUES"),
        reservations=_given("UC_RESERVATIONS"),
        instance_profiles=_given("UC_INSTANCE_PROFILES"),
        without_reservation=os.environ["UC_WITHOUT_RESERVATION"] == "yes",
    )
    now = datetime.now(UTC)
    print(embedded(compute_metrics(observe(watched, _clients(), now)), cluster=watched.cluster, now=now))  # noqa: T201 - the log is the way out
