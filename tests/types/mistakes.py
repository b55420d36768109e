"""Calls that a type checker refuses. An ignored error that is none is an error itself, so this shows that checkers see our types."""

import aws_cdk as cdk
from aws_cdk import aws_s3 as s3

from ultracluster import (
    CheckpointBucket,
    ClusterNetwork,
    FileSystem,
    IUltraCluster,
    Job,
    Spot,
    TrainingQueue,
    UltraCluster,
)


def mistakes(stack: cdk.Stack, bucket: s3.IBucket, cluster: IUltraCluster) -> None:
    """Never called."""
    ClusterNetwork(stack, "A", zone_id=7, instance_type="trn2.48xlarge", node_count=1)  # type: ignore[arg-type]
    ClusterNetwork(stack, "B", zone_id="use2-az3", instance_type=bucket, node_count=1)  # type: ignore[arg-type]
    CheckpointBucket.from_bucket(stack, "C", "name-of-a-bucket")  # type: ignore[arg-type]
    TrainingQueue.from_training_queue_arn(stack, "D", bucket)  # type: ignore[arg-type]
    cluster.grant_submit("researcher")  # type: ignore[arg-type]
    cluster.add_multi_node_job("E", Job(image="image", command=("a.py",), attempts="3"))  # type: ignore[arg-type]
    cluster.add_multi_node_job("F", Job(image="image", command="train.py"))  # type: ignore[arg-type]
    cluster.add_multi_node_job("G", Job(image="image", command=("a.py",)), timeout=24)  # type: ignore[arg-type]
    cluster.metric("Loss", perod=cdk.Duration.minutes(5))  # type: ignore[call-arg]
    FileSystem(deployment_type="PERSISTENT_3")  # type: ignore[arg-type]
    FileSystem(storage_capacity_gib=cdk.Size.tebibytes(5))  # type: ignore[arg-type]
    Spot(zone_id="use2-az3", max_price="2.50")  # type: ignore[call-arg]
    place = {"instance_type": "trn2.48xlarge", "image_id": "ami-0123456789abcdef0"}
    UltraCluster(stack, "H", instance_type="trn2.48xlarge", node_count=4)  # type: ignore[call-arg]
    UltraCluster(stack, "I", node_count=4, alarms="off", **place)  # type: ignore[arg-type]
