"""The metrics that every node publishes, and where they go."""

import re

from aws_cdk import Aws, Duration, Stack, Token
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from constructs import Construct

from ultracluster._foundation.log_group import RetainedLogGroup
from ultracluster_catalog.observability.metrics import CLUSTER_DIMENSION, METRICS, NAMESPACE
from ultracluster_rules.findings import Finding, FindingsError, quote

__all__ = ["NodeMetrics"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class NodeMetrics(Construct):
    """The log group that nodes write their metrics to, once a minute, as events of CloudWatch's embedded metric format.

    The node needs no agent for that, and no way out: the interface endpoint of CloudWatch Logs that a cluster has suffices.
    What belongs to one node is a property of its log events and no dimension, so a cluster of 64 nodes has as many metrics
    to pay as one of 2.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster_name: str,
        log_retention: logs.RetentionDays = logs.RetentionDays.THREE_MONTHS,
        kms_key: kms.IKey | None = None,
    ) -> None:
        """Define where they go.

        Args:
            scope: Where to add it.
            construct_id: Its id there.
            cluster_name: What the cluster is called in its metrics, once in an account and Region: up to 100 letters, digits,
                dots, underscores and hyphens.
            log_retention: How long the log events are kept; the metrics stay for 15 months. Default: three months.
            kms_key: Key of your own for the log events; its policy must let CloudWatch Logs use it. Default: the keys of
                CloudWatch Logs.

        Raises:
            FindingsError: If the name is none (UC6441).
        """
        if Token.is_unresolved(cluster_name) or not _NAME.fullmatch(cluster_name):
            raise FindingsError(
                [
                    Finding(
                        code="UC6441",
                        problem=f"got {quote(cluster_name)}",
                        allowed="1 to 100 letters, digits, dots, underscores and hyphens, the first a letter or digit",
                        path="cluster_name",
                    )
                ]
            )
        super().__init__(scope, construct_id)
        self._cluster_name = cluster_name
        self._log_group = RetainedLogGroup(self, retention=log_retention, kms_key=kms_key)

    def grant_publish(self, grantee: iam.IGrantable) -> iam.Grant:
        """Grant writing metrics.

        Args:
            grantee: Principal to grant permissions to, such as the role of nodes.
        """
        return self._log_group.grant_write(grantee)

    def metric(
        self, name: str, *, statistic: str = "Average", period: Duration | None = None
    ) -> cloudwatch.Metric:
        """Give a metric of the cluster.

        Args:
            name: One of `ultracluster_catalog.METRICS`, whoever publishes it.
            statistic: Its statistic. Default: the average.
            period: Of how long. Default: a minute.

        Raises:
            FindingsError: If there is no such metric (UC6442).
        """
        if name not in METRICS:
            raise FindingsError(
                [
                    Finding(
                        code="UC6442",
                        problem=f"got {quote(name)}",
                        allowed=", ".join(sorted(METRICS)),
                        path="name",
                    )
                ]
            )
        return cloudwatch.Metric(
            namespace=NAMESPACE,
            metric_name=name,
            dimensions_map={CLUSTER_DIMENSION: self._cluster_name},
            statistic=statistic,
            period=period or Duration.minutes(1),
        )

    @property
    def cluster_name(self) -> str:
        """What the cluster is called in its metrics."""
        return self._cluster_name

    @property
    def log_group(self) -> logs.ILogGroup:
        """Log group of the metrics."""
        return self._log_group

    @property
    def settings(self) -> dict[str, str]:
        """Variables of the service that publishes on a node."""
        region = Stack.of(self).region
        return {
            "UC_CLUSTER": self._cluster_name,
            "UC_LOG_GROUP": self._log_group.log_group_name,
            "UC_LOGS_URL": f"https://logs.{region}.{Aws.URL_SUFFIX}",
            "UC_REGION": region,
        }
