"""Calls that a type checker refuses. An ignored error that is none is an error itself, so this shows that checkers see our types."""

import aws_cdk as cdk
from aws_cdk import aws_s3 as s3

from ultracluster import CheckpointBucket, ClusterNetwork, IUltraCluster, Job, TrainingQueue


def mistakes(stack: cdk.Stack, bucket: s3.IBucket, cluster: IUltraCluster) -> None:
    """Never called."""
    ClusterNetwork(stack, "A", zone_id=7, instance_type="trn2.48xlarge", node_count=1)  # type: ignore[arg-type]
    ClusterNetwork(stack, "B", zone_id="use2-az3", instance_type=bucket, node_count=1)  # type: ignore[arg-type]
    CheckpointBucket.from_bucket(stack, "C", "name-of-a-bucket")  # type: ignore[arg-type]
    TrainingQueue.from_training_queue_arn(stack, "D", bucket)  # type: ignore[arg-type]
    cluster.grant_submit("researcher")  # type: ignore[arg-type]
    cluster.add_multi_node_job("E", Job(image="image", command=("a.py",), attempts="3"))  # type: ignore[arg-type]
