"""Clusters with alarms."""

from typing import Any

import aws_cdk as cdk
from tests.unit.ultracluster.builders import (
    IMAGE_ID,
    block,
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
    return UltraCluster(
        stack,
        "Cluster",
        instance_type="trn2.48xlarge",
        node_count=4,
        image_id=IMAGE_ID,
        capacity=block(),
        alarms=Alarms(**settings),
        cluster_name="pretrain",
    )
