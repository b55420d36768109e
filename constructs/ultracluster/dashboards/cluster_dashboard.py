"""CloudWatch dashboard of a cluster: capacity, health, fabric, storage, queue and training."""

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

from ultracluster.cluster.ultra_cluster import UltraCluster
from ultracluster.nodes.node_metrics import NodeMetrics
from ultracluster.operations.cluster_alarms import ClusterAlarms
from ultracluster.storage.shared_file_system import SharedFileSystem
from ultracluster_spec.arguments import validate_arguments
from ultracluster_spec.findings import FindingsError

_WIDTH = 8
_WHOLE_WIDTH = 24


class ClusterDashboard(Construct):
    """A dashboard of a cluster with alarms: alarm states first, then a row of widgets for each topic."""

    dashboard: cloudwatch.Dashboard
    """Underlying dashboard."""

    @validate_arguments
    def __init__(self, scope: Construct, construct_id: str, *, cluster: UltraCluster) -> None:
        """Define the dashboard.

        Args:
            cluster: Cluster with alarms, which provide its metrics.

        Raises:
            FindingsError: If the cluster has no metrics (UC6443).
        """
        if cluster.metrics is None or cluster.alarms is None:
            raise FindingsError.of(
                "UC6443",
                "the cluster publishes no metrics",
                remedy="Set alarms=Alarms(...) on the cluster",
                path="cluster",
            )
        super().__init__(scope, construct_id)
        self._metrics: NodeMetrics = cluster.metrics
        self.dashboard = cloudwatch.Dashboard(self, "Resource", default_interval=Duration.hours(12))
        self.node.default_child = self.dashboard.node.default_child
        self._add_alarms(cluster.alarms)
        self._add_rows()
        storage: list[cloudwatch.IWidget] = []
        if (system := cluster.file_system) is not None:
            storage += [_free_space(system)] if system.storage_capacity_gib is not None else []
            storage.append(
                self._graph("Lustre, bytes a minute", "LustreReadBytes:Sum", "LustreWriteBytes:Sum")
            )
        self.add_widgets("Storage", *storage, self._graph("Disks of nodes, %", "DiskPercent:Maximum"))

    def _add_alarms(self, alarms: ClusterAlarms) -> None:
        self.add_widgets(
            f"Cluster {self._metrics.cluster_name}",
            cloudwatch.AlarmStatusWidget(
                title="Alarms", alarms=list(alarms.alarms.values()), width=_WHOLE_WIDTH, height=4
            ),
        )

    def _add_rows(self) -> None:
        graph = self._graph
        self.add_widgets(
            "Capacity",
            graph(
                "Nodes",
                "PaidNodes:Maximum",
                "RunningNodes:Maximum",
                "NodesReporting:Sum",
                "UnusedNodes:Maximum",
            ),
            graph("NeuronCore utilisation, %", "CoreUtilization:Average", "CoreUtilization:Minimum"),
            graph("Seconds to the drain of the block", "SecondsToDrain:Minimum"),
        )
        self.add_widgets(
            "Queue",
            graph("Jobs", "RunningJobs:Maximum", "RunnableJobs:Maximum", "BlockedJobs:Maximum"),
            graph("Longest wait, seconds", "WaitSeconds:Maximum"),
            graph("Compile cache", "CacheHits:Sum", "CacheMisses:Sum"),
        )
        self.add_widgets(
            "Training",
            graph(
                "Step, seconds", "StepSeconds:Average", "CheckpointSeconds:Maximum", "CompileSeconds:Maximum"
            ),
            graph("Tokens a second", "TokensPerSecond:Average"),
            graph("Shares", "Mfu:Average", "CollectiveShare:Average"),
        )
        self.add_widgets(
            "Health",
            graph("Memory", "HostMemoryPercent:Maximum"),
            graph("Errors", "ExecutionErrors:Sum", "EccUncorrected:Sum", "EccCorrected:Sum"),
            graph("Devices that are missing", "NeuronDevicesMissing:Sum", "EfaDevicesMissing:Sum"),
        )
        self.add_widgets(
            "Fabric",
            graph("Bytes a minute", "EfaBytes:Sum", "TcpBytes:Sum"),
            graph("EFA trouble, packets a minute", "EfaRetransmits:Sum", "EfaDrops:Sum"),
            graph("Nodes that fell back to TCP", "TcpFallback:Sum"),
        )

    def _graph(self, title: str, *names: str) -> cloudwatch.GraphWidget:
        """Return a graph of metrics in the form ``NAME:STATISTIC``."""
        return cloudwatch.GraphWidget(
            title=title,
            left=[
                self._metrics.metric(name, statistic=statistic)
                for name, _, statistic in (series.partition(":") for series in names)
            ],
            left_y_axis=cloudwatch.YAxisProps(min=0),
            width=_WIDTH,
        )

    @validate_arguments
    def add_widgets(self, title: str, *widgets: cloudwatch.IWidget) -> None:
        """Add a row of widgets with a heading at the end.

        Args:
            title: Heading.
            *widgets: Widgets with a total width of at most 24.
        """
        self.dashboard.add_widgets(
            cloudwatch.TextWidget(markdown=f"## {title}", width=_WHOLE_WIDTH, height=1)
        )
        self.dashboard.add_widgets(*widgets)


def _free_space(file_system: SharedFileSystem) -> cloudwatch.GraphWidget:
    return cloudwatch.GraphWidget(
        title="Free space, bytes",
        left=[file_system.metric_free_data_storage_capacity()],
        left_y_axis=cloudwatch.YAxisProps(min=0),
        width=_WIDTH,
    )
