"""Variables of jobs, by the stack of their cluster."""

import aws_cdk as cdk

import ultracluster as uc
from ultracluster import Job

IMAGE = "111111111111.dkr.ecr.us-east-2.amazonaws.com/train:1"


def cluster_environment(stack: cdk.Stack, instance_type: str, **given: str) -> dict[str, str]:
    cluster = uc.UltraCluster(
        stack,
        "Cluster",
        instance_type=instance_type,
        node_count=2,
        image_id="ami-0123456789abcdef0",
        zone_id="use2-az3",
    )
    job = cluster.add_multi_node_job("train", Job(image=IMAGE, command=("train.py",), environment=given))
    return {name: value for name, value in job.environment.items() if name.startswith("UC_")}


def stack_of(app: cdk.App, name: str) -> cdk.Stack:
    return cdk.Stack(app, name, env=cdk.Environment(region="us-east-2"))
