"""Metrics that every node publishes, and their log group."""

import re
from typing import Unpack

from aws_cdk import Aws, Duration, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from constructs import Construct

from ultracluster._foundation.log_group import RetainedLogGroup
from ultracluster._foundation.metric_options import MetricOptions
from ultracluster_catalog.observability.metrics import (
    CLUSTER_DIMENSION,
    JOB_DIMENSION,
    METRICS,
    NAMESPACE,
    TRAINING_METRICS,
)
from ultracluster_spec.arguments import validate_arguments
from ultracluster_spec.findings import FindingsError, is_token, quote

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class NodeMetrics(Construct):
    """A log group to which nodes write metrics once a minute, in CloudWatch embedded metric format.

    Nodes need neither an agent nor internet access: the interface endpoint of CloudWatch Logs in the cluster network suffices.
    The node is a property of the log events, not a dimension, so the number of billed metrics does not grow with the
    number of nodes.
    """

    cluster_name: str
    """Value of the cluster dimension."""
    log_group: logs.ILogGroup
    """Log group of the metrics."""

    @validate_arguments
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster_name: str,
        log_retention: logs.RetentionDays = logs.RetentionDays.THREE_MONTHS,
        kms_key: kms.IKey | None = None,
    ) -> None:
        """Define the log group.

        Args:
            cluster_name: Value of the cluster dimension, unique in an account and Region: up to 100 letters, digits, dots,
                underscores and hyphens.
            log_retention: Retention of the log events; the metrics stay for 15 months. Default: 3 months.
            kms_key: KMS key for the log events; its policy must allow CloudWatch Logs to use it. Default: encryption by
                CloudWatch Logs.

        Raises:
            FindingsError: If the name is malformed (UC6441).
        """
        if is_token(cluster_name) or not _NAME.fullmatch(cluster_name):
            raise FindingsError.of(
                "UC6441",
                f"got {quote(cluster_name)}",
                allowed="1 to 100 letters, digits, dots, underscores and hyphens, the first a letter or digit",
                path="cluster_name",
            )
        super().__init__(scope, construct_id)
        self.cluster_name = cluster_name
        self.log_group = RetainedLogGroup(self, retention=log_retention, kms_key=kms_key)
        self.node.default_child = self.log_group.node.default_child

    @validate_arguments
    def grant_publish(self, grantee: iam.IGrantable) -> iam.Grant:
        """Grant permission to write metrics.

        Args:
            grantee: Principal to grant permissions to, such as the role of nodes.
        """
        return self.log_group.grant_write(grantee)

    @validate_arguments
    def metric(self, name: str, **options: Unpack[MetricOptions]) -> cloudwatch.Metric:
        """Return a metric of the cluster.

        Args:
            name: One of `ultracluster_catalog.METRICS`, of any publisher.
            **options: Arguments of `MetricOptions`. Default: the average over 1 minute.

        Raises:
            FindingsError: If there is no such metric (UC6442).
        """
        defaults = MetricOptions(statistic="Average", period=Duration.minutes(1))
        return cluster_metric(self.cluster_name, name, **defaults | options)

    @property
    def settings(self) -> dict[str, str]:
        """Environment variables of the service that publishes the metrics on a node."""
        region = Stack.of(self).region
        return {
            "UC_CLUSTER": self.cluster_name,
            "UC_LOG_GROUP": self.log_group.log_group_name,
            "UC_LOGS_URL": f"https://logs.{region}.{Aws.URL_SUFFIX}",
            "UC_REGION": region,
        }


def cluster_metric(
    cluster_name: str, metric_name: str, *, job: str | None = None, **options: Unpack[MetricOptions]
) -> cloudwatch.Metric:
    """Return a metric of a cluster, or of the training programs of one of its jobs.

    Args:
        cluster_name: Value of the cluster dimension.
        metric_name: One of `ultracluster_catalog.METRICS`, of any publisher.
        job: Value of the job dimension. Default: the whole cluster.
        **options: Arguments of `MetricOptions`.

    Raises:
        FindingsError: If there is no such metric (UC6442).
    """
    known = sorted(METRICS if job is None else TRAINING_METRICS)
    if metric_name not in known:
        raise FindingsError.of(
            "UC6442", f"got {quote(metric_name)}", allowed=", ".join(known), path="metric_name"
        )
    dimensions = {CLUSTER_DIMENSION: cluster_name, **({JOB_DIMENSION: job} if job else {})}
    return cloudwatch.Metric(
        namespace=NAMESPACE, metric_name=metric_name, dimensions_map=dimensions, **options
    )
