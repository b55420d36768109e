"""Jobs of a research team on the queue of a platform team, which is defined in another app.

Change the values below, then: cdk deploy --app "python3 examples/research-jobs/app.py"
Submit: ultracluster jobs submit Research Pretrain --region us-east-2
"""

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3

from ultracluster import CheckpointBucket, CompileCache, Job, TrainingQueue, UltraCluster

# REPLACE all of these with the outputs of the platform's stack.
CLUSTER, INSTANCE_TYPE, NODES = "train", "trn2.48xlarge", 4
JOB_QUEUE_ARN = "arn:aws:batch:us-east-2:123456789012:job-queue/train"
LOG_GROUP, COMPILE_CACHE, CHECKPOINTS = "/platform/jobs", "platform-compile-cache", "platform-checkpoints"
IMAGE = "123456789012.dkr.ecr.us-east-2.amazonaws.com/training:v1"

app = cdk.App()
stack = cdk.Stack(app, "Research", env=cdk.Environment(region="us-east-2"))
cluster = UltraCluster.from_ultra_cluster_attributes(
    stack,
    "Cluster",
    cluster_name=CLUSTER,
    queue=TrainingQueue.from_training_queue_attributes(
        stack,
        "Queue",
        job_queue_arn=JOB_QUEUE_ARN,
        instance_type=INSTANCE_TYPE,
        max_nodes=NODES,
        log_group=logs.LogGroup.from_log_group_name(stack, "Logs", LOG_GROUP),
    ),
    compile_cache=CompileCache.from_bucket(
        stack, "Cache", s3.Bucket.from_bucket_name(stack, "CacheBucket", COMPILE_CACHE)
    ),
    checkpoint_bucket=CheckpointBucket.from_bucket(
        stack, "Checkpoints", s3.Bucket.from_bucket_name(stack, "CheckpointsBucket", CHECKPOINTS)
    ),
)
job = cluster.add_multi_node_job("Pretrain", Job(image=IMAGE, command=("train.py",), nodes=2))
researchers = iam.Role(stack, "Researchers", assumed_by=iam.AccountRootPrincipal())
job.grant_submit(researchers)
cluster.grant_read(researchers)
app.synth()
