"""CloudWatch dashboard of clusters in several Regions."""

from collections.abc import Sequence

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

from ultracluster_catalog.observability.metrics import CLUSTER_DIMENSION, NAMESPACE
from ultracluster_spec.arguments import validate_arguments
from ultracluster_spec.findings import FindingsError

_GRAPHS = (
    ("Nodes", ("PaidNodes:Maximum", "NodesReporting:Sum", "UnusedNodes:Maximum")),
    ("NeuronCore utilisation, %", ("CoreUtilization:Average", "CoreUtilization:Minimum")),
    ("Jobs", ("RunningJobs:Maximum", "RunnableJobs:Maximum")),
    ("Step, seconds", ("StepSeconds:Average",)),
)
# The limit is 500 widgets per dashboard (CloudWatch User Guide, service quotas, read 2026-11); a cluster needs five.
_MOST_CLUSTERS = 100


class RegionsDashboard(Construct):
    """A dashboard with one row per cluster: nodes, utilisation, jobs and steps.

    It reads the metrics of each cluster in its Region and refers to no other stack, so that it can be deployed before or
    after them, in any Region of the same account.
    """

    dashboard: cloudwatch.Dashboard
    """Underlying dashboard."""

    @validate_arguments
    def __init__(self, scope: Construct, construct_id: str, *, clusters: Sequence[tuple[str, str]]) -> None:
        """Define the dashboard.

        Args:
            clusters: Cluster name, as in its metrics, and Region of each cluster, 1 to 100, in the order of the rows.

        Raises:
            FindingsError: If there are none, duplicates, or too many (UC6444).
        """
        if len(set(clusters)) != len(clusters) or not 1 <= len(clusters) <= _MOST_CLUSTERS:
            raise FindingsError.of(
                "UC6444",
                f"got {len(clusters)} clusters, {len(set(clusters))} of them different",
                allowed=f"1 to {_MOST_CLUSTERS}, each once",
                path="clusters",
            )
        super().__init__(scope, construct_id)
        self.dashboard = cloudwatch.Dashboard(self, "Resource", default_interval=Duration.hours(12))
        self.node.default_child = self.dashboard.node.default_child
        for name, region in clusters:
            self.dashboard.add_widgets(
                cloudwatch.TextWidget(markdown=f"## {name}, {region}", width=24, height=1)
            )
            self.dashboard.add_widgets(*(_graph(title, names, name, region) for title, names in _GRAPHS))

    @validate_arguments
    def add_widgets(self, *widgets: cloudwatch.IWidget) -> None:
        """Add a row of widgets at the end.

        Args:
            *widgets: Widgets with a total width of at most 24.
        """
        self.dashboard.add_widgets(*widgets)


def _graph(title: str, names: Sequence[str], cluster: str, region: str) -> cloudwatch.GraphWidget:
    return cloudwatch.GraphWidget(
        title=title,
        region=region,
        left=[
            cloudwatch.Metric(
                namespace=NAMESPACE,
                metric_name=name,
                dimensions_map={CLUSTER_DIMENSION: cluster},
                statistic=statistic,
                period=Duration.minutes(1),
                region=region,
            )
            for name, _, statistic in (series.partition(":") for series in names)
        ],
        left_y_axis=cloudwatch.YAxisProps(min=0),
        width=6,
    )
