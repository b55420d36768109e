"""Clusters with alarms."""

from typing import Any

import aws_cdk as cdk
from tests.unit.ultracluster.builders import (
    block,
    ultra_cluster,
)

from ultracluster import (
    Alarms,
    UltraCluster,
)

IDS = {
    "CacheMisses",
    "CollectiveShare",
    "DrainComing",
    "Ecc",
    "EfaMissing",
    "FileSystemFull",
    "Idle",
    "JobWaits",
    "NeuronMissing",
    "NodeFaulty",
    "NodeLost",
    "QueueBlocked",
    "EnvironmentInvalid",
    "NodeRefused",
    "StepStalled",
    "TcpFallback",
    "Unused",
    "WatchSilent",
}


def cluster(stack: cdk.Stack, **settings: Any) -> UltraCluster:
    return ultra_cluster(stack, capacity=block(), alarms=Alarms(**settings), cluster_name="pretrain")
