"""CloudWatch metrics of a cluster: publisher, unit and meaning.

All metrics have one namespace and the single dimension Cluster, because CloudWatch bills each combination of name and
dimensions as one metric. Details of a node or a job are properties of the log events that carry the metrics.
"""

from dataclasses import dataclass
from typing import Final, Literal

NAMESPACE: Final = "UltraCluster"
"""Namespace of the metrics of clusters."""

CLUSTER_DIMENSION: Final = "Cluster"
"""Dimension of every metric: the name of the cluster."""

JOB_DIMENSION: Final = "Job"
"""Additional dimension of a second set of the training metrics: the name of the job."""

BAKE_OFF_NAMESPACE: Final = "UltraCluster/BakeOff"
"""Namespace of the metrics of bake-offs."""

OFFERINGS_NAMESPACE: Final = "UltraCluster/Capacity"
"""Namespace of the metrics of a `CapacityWatch`."""

OFFERINGS_DIMENSION: Final = "Watch"
"""Only dimension of these metrics: construct path of the watch."""

OFFERINGS_METRIC: Final = "OfferingsThatFit"
"""Number of offerings that a search found; 0 if there was none."""

OFFERINGS_PRICE_METRIC: Final = "LowestNodeHour"
"""Lowest price of a node-hour among them, in dollars; absent if there was none."""

CANDIDATE_DIMENSION: Final = "Candidate"
"""Only dimension of bake-off metrics: construct path of the bake-off, a slash, and the name of the candidate."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ClusterMetric:
    """One metric, published by ``node`` (on every node, for each minute), ``watch`` (the function) or ``training``."""

    name: str
    unit: Literal["Bytes", "Count", "Count/Second", "None", "Percent", "Seconds"]
    source: Literal["node", "training", "watch"]
    meaning: str


_ROWS: Final = (
    ("NodesReporting", "Count", "node", "1 from each node; the function adds 0, so that the metric always has a value"),
    ("CoreUtilization", "Percent", "node", "mean over the NeuronCores that processes use; 0 when none is in use"),
    ("DeviceMemoryBytes", "Bytes", "node", "device memory that Neuron runtimes use"),
    ("HostMemoryPercent", "Percent", "node", "host memory in use"),
    ("DiskPercent", "Percent", "node", "usage of the root volume or of scratch, whichever is fuller"),
    ("ExecutionErrors", "Count", "node", "errors of Neuron runtimes, of all kinds"),
    ("ExecutionSeconds", "Seconds", "node", "median device latency of the slowest Neuron runtime"),
    ("EccCorrected", "Count", "node", "corrected ECC events of device memory and SRAM"),
    ("EccUncorrected", "Count", "node", "uncorrected ECC events of device memory and SRAM"),
    ("NodeFaults", "Count", "node", "kinds of hardware faults since its boot for which Neuron asks to end the instance"),
    ("NeuronDevicesMissing", "Count", "node", "Neuron devices that the instance type has but the node does not find"),
    ("EfaDevicesMissing", "Count", "node", "EFA devices that the launch template requests but the node does not find"),
    ("EfaBytes", "Bytes", "node", "bytes that EFA sent and received"),
    ("EfaRetransmits", "Count", "node", "packets that EFA retransmitted"),
    ("EfaDrops", "Count", "node", "packets that EFA dropped"),
    ("EfaImpaired", "Count", "node", "connections of EFA that became impaired, or whose remote end did not respond"),
    ("TcpBytes", "Bytes", "node", "bytes of a multi-node job's own network interface, without EFA and the file system"),
    ("TcpFallback", "Count", "node", "1 when busy NeuronCores communicate over TCP and hardly use EFA"),
    ("LustreReadBytes", "Bytes", "node", "bytes read from Lustre"),
    ("LustreWriteBytes", "Bytes", "node", "bytes written to Lustre"),
    ("PaidNodes", "Count", "watch", "instances of active reservations, used or not"),
    ("UnusedNodes", "Count", "watch", "instances of active reservations that are not running"),
    ("RunningNodes", "Count", "watch", "instances that have run for at least ten minutes, and therefore should report"),
    ("NodesRefused", "Count", "watch", "instances that refused to join and terminated themselves, within about the last hour"),
    ("InvalidEnvironments", "Count", "watch", "compute environments in which AWS Batch places no jobs"),
    ("RunnableJobs", "Count", "watch", "jobs that wait for nodes"),
    ("RunningJobs", "Count", "watch", "jobs that run"),
    ("BlockedJobs", "Count", "watch", "waiting jobs that cannot start, for a reason that AWS Batch reports"),
    ("WaitSeconds", "Seconds", "watch", "waiting time of the oldest job that could run; 0 while no nodes are available"),
    ("SecondsToDrain", "Seconds", "watch", "time until the drain of the Capacity Block that ends first; no value without an active block"),
    ("StepLateness", "None", "watch", "time since the last step, as a multiple of the median step; only while a job trains"),
    ("Steps", "Count", "training", "steps since the previous line"),
    ("StepSeconds", "Seconds", "training", "time of one step"),
    ("TokensPerSecond", "Count/Second", "training", "tokens of all ranks in a second"),
    ("Loss", "None", "training", "loss of the step"),
    ("CollectiveShare", "None", "training", "share of the step in collectives, 0 to 1"),
    ("CompileSeconds", "Seconds", "training", "time of one compilation"),
    ("CacheHits", "Count", "training", "graphs found in the compile cache"),
    ("CacheMisses", "Count", "training", "graphs that were compiled because they were not in the compile cache"),
    ("CheckpointSeconds", "Seconds", "training", "time to write one checkpoint"),
    ("Mfu", "None", "training", "model FLOPs per second divided by the peak of the chips, 0 to 1"),
)  # fmt: skip

METRICS: Final[dict[str, ClusterMetric]] = {
    name: ClusterMetric(name=name, unit=unit, source=source, meaning=meaning)  # type: ignore[arg-type]  # rows of texts
    for name, unit, source, meaning in _ROWS
}
"""Metrics by name."""

TRAINING_METRICS: Final = frozenset(name for name, metric in METRICS.items() if metric.source == "training")
"""Names of the metrics that training programs publish, also for each job."""
