"""The metrics of a cluster in CloudWatch: who publishes them, in which unit, and what they say.

All are in one namespace with the dimension Cluster alone, because CloudWatch bills each combination of a name and its
dimensions as one metric. What belongs to one node or one job stands in the log events that carry the metrics.
"""

from dataclasses import dataclass
from typing import Final, Literal

__all__ = [
    "BAKE_OFF_NAMESPACE",
    "CLUSTER_DIMENSION",
    "CONTESTANT_DIMENSION",
    "JOB_DIMENSION",
    "METRICS",
    "NAMESPACE",
    "ClusterMetric",
]

NAMESPACE: Final = "UltraCluster"
"""Namespace of all of them."""

CLUSTER_DIMENSION: Final = "Cluster"
"""The dimension that all of them have: the name of the cluster."""

JOB_DIMENSION: Final = "Job"
"""A dimension that those of the training have besides, in a second set: the name of the job."""

BAKE_OFF_NAMESPACE: Final = "UltraCluster/BakeOff"
"""Namespace of the figures of bake-offs, which have names of their own."""

CONTESTANT_DIMENSION: Final = "Contestant"
"""Their only dimension: the path of the bake-off in its app, a slash, and the name of the contestant."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ClusterMetric:
    """One metric.

    Attributes:
        name: Its name in CloudWatch.
        unit: Its unit in CloudWatch.
        source: Who publishes it: ``node`` the service on every node, ``watch`` the function that looks at the cluster
            every minute, ``training`` the program that trains.
        meaning: What one value says; those of `node` are of one node and one minute.
    """

    name: str
    unit: Literal["Bytes", "Count", "Count/Second", "None", "Percent", "Seconds"]
    source: Literal["node", "training", "watch"]
    meaning: str


_ROWS: Final = (
    (
        "NodesReporting",
        "Count",
        "node",
        "1 from each node; the function adds 0, so that there is always a value",
    ),
    (
        "CoreUtilization",
        "Percent",
        "node",
        "mean over the NeuronCores that a process holds; 0 when none is held",
    ),
    ("DeviceMemoryBytes", "Bytes", "node", "device memory that Neuron runtimes hold"),
    ("HostMemoryPercent", "Percent", "node", "host memory in use"),
    ("DiskPercent", "Percent", "node", "the fuller one of root volume and scratch"),
    ("ExecutionErrors", "Count", "node", "errors of Neuron runtimes, of all kinds"),
    ("ExecutionSeconds", "Seconds", "node", "the longest median of device latency among the Neuron runtimes"),
    ("EccCorrected", "Count", "node", "corrected ECC events of device memory and SRAM"),
    ("EccUncorrected", "Count", "node", "uncorrected ECC events of device memory and SRAM"),
    ("NeuronDevicesMissing", "Count", "node", "Neuron devices that the type has and the node does not show"),
    (
        "EfaDevicesMissing",
        "Count",
        "node",
        "EFA devices that the launch template gives and the node does not show",
    ),
    ("EfaBytes", "Bytes", "node", "bytes that EFA sent and received"),
    ("EfaRetransmits", "Count", "node", "packets that EFA sent again"),
    ("EfaDrops", "Count", "node", "packets that EFA dropped"),
    (
        "TcpBytes",
        "Bytes",
        "node",
        "bytes of a multi-node job's own network interface, beside EFA and the file system",
    ),
    ("TcpFallback", "Count", "node", "1 when busy NeuronCores talk over TCP while EFA is all but silent"),
    ("LustreReadBytes", "Bytes", "node", "bytes read from Lustre"),
    ("LustreWriteBytes", "Bytes", "node", "bytes written to Lustre"),
    ("PaidNodes", "Count", "watch", "instances of the reservations that are active, used or not"),
    ("UnusedNodes", "Count", "watch", "those of them in which no instance runs"),
    ("RunningNodes", "Count", "watch", "instances that have run for ten minutes, so that they must report"),
    ("RunnableJobs", "Count", "watch", "jobs that wait for nodes"),
    ("RunningJobs", "Count", "watch", "jobs that run"),
    (
        "BlockedJobs",
        "Count",
        "watch",
        "waiting jobs for which AWS Batch gives a reason why they cannot start",
    ),
    (
        "WaitSeconds",
        "Seconds",
        "watch",
        "how long the oldest job waits that could run; 0 while there are no nodes to have",
    ),
    (
        "SecondsToDrain",
        "Seconds",
        "watch",
        "until the drain of the Capacity Block that ends first; none without an active one",
    ),
    (
        "StepLateness",
        "None",
        "watch",
        "time since the last step, as a multiple of the median step; only while a job trains",
    ),
    ("Steps", "Count", "training", "steps since the last line"),
    ("StepSeconds", "Seconds", "training", "time of one step"),
    ("TokensPerSecond", "Count/Second", "training", "tokens of all ranks in a second"),
    ("Loss", "None", "training", "loss of the step"),
    ("CollectiveShare", "None", "training", "share of the step in collectives, 0 to 1"),
    ("CompileSeconds", "Seconds", "training", "time of one compilation"),
    ("CacheHits", "Count", "training", "graphs that the compile cache had"),
    ("CacheMisses", "Count", "training", "graphs that were compiled, because the compile cache lacked them"),
    ("CheckpointSeconds", "Seconds", "training", "time to write one checkpoint"),
    ("Mfu", "None", "training", "model FLOPs of a second against the peak of the chips, 0 to 1"),
)

METRICS: Final[dict[str, ClusterMetric]] = {
    name: ClusterMetric(name=name, unit=unit, source=source, meaning=meaning)  # type: ignore[arg-type]  # rows of texts
    for name, unit, source, meaning in _ROWS
}
"""All of them by name."""
