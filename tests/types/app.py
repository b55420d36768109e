"""An app as users write it: a platform in one stack, and the jobs of a team that sees the platform's interfaces only.

Keys and topics are imported, because pyright does not take `kms.Key` for `kms.IKey`, nor `sns.Topic` for `sns.ITopic`: the CDK
names their parameters differently (https://github.com/aws/jsii/issues/4541).
"""

import aws_cdk as cdk
from aws_cdk import aws_batch as batch
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_fsx as fsx
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk import aws_sns as sns
from constructs import Construct

from ultracluster import (
    CapacityBlock,
    CheckpointBucket,
    ClusterNetwork,
    CompileCache,
    DatasetBucket,
    ITrainingQueue,
    IUltraCluster,
    Job,
    OnDemand,
    TrainingQueue,
    UltraCluster,
)

IMAGE = "123456789012.dkr.ecr.us-east-2.amazonaws.com/training:v1"
TYPE = ec2.InstanceType("trn2.48xlarge")
ZONE = "use2-az3"
KEY = "arn:aws:kms:us-east-2:123456789012:key/01234567-89ab-cdef-0123-456789abcdef"
TOPIC = "arn:aws:sns:us-east-2:123456789012:notices"


class Platform(cdk.Stack):
    """A cluster in the VPC of the app, with buckets, keys, images and topics of the CDK."""

    def __init__(self, scope: Construct, construct_id: str, *, env: cdk.Environment) -> None:
        """Define the stack."""
        super().__init__(scope, construct_id, env=env)
        vpc: ec2.IVpc = ec2.Vpc(self, "Vpc", availability_zones=["us-east-2b", "us-east-2c"])
        image: ec2.IMachineImage = ec2.MachineImage.generic_linux({"us-east-2": "ami-0123456789abcdef0"})
        checkpoints: s3.IBucket = s3.Bucket(self, "Checkpoints")
        cache: s3.IBucket = s3.Bucket.from_bucket_name(self, "Cache", "shared-compile-cache")
        key: kms.IKey = kms.Key.from_key_arn(self, "Key", KEY)
        topic: sns.ITopic = sns.Topic.from_topic_arn(self, "Notices", TOPIC)
        self.cluster = UltraCluster(
            self,
            "Cluster",
            instance_type=TYPE,
            node_count=4,
            image_id=image,
            capacity=[
                CapacityBlock(reservation_id="cr-0123456789abcdef0", zone_id=ZONE),
                OnDemand(name="spill", max_nodes=2),
            ],
            network=vpc,
            vpc_subnets=ec2.SubnetSelection(availability_zones=["us-east-2c"]),
            checkpoint_bucket=checkpoints,
            compile_cache=cache,
            kms_key=key,
            notify=topic,
            removal_policy=cdk.RemovalPolicy.DESTROY,
        )


class Closed(cdk.Stack):
    """A cluster with a network of its own, whose endpoints let a partner's bucket through."""

    def __init__(self, scope: Construct, construct_id: str, *, env: cdk.Environment) -> None:
        """Define the stack."""
        super().__init__(scope, construct_id, env=env)
        network = ClusterNetwork(
            self,
            "Network",
            zone_id=ZONE,
            instance_type=TYPE,
            node_count=2,
            endpoints=["secretsmanager"],
        )
        if network.endpoint_policies:
            network.endpoint_policies.allow_bucket("corpus-of-partner")
        cluster = UltraCluster(
            self,
            "Cluster",
            instance_type=TYPE,
            node_count=2,
            image_id="ami-0123456789abcdef0",
            network=network,
        )
        token = secretsmanager.Secret.from_secret_name_v2(self, "Token", "hugging-face")
        job = cluster.add_single_node_job(
            "Tune",
            Job(image=IMAGE, command=("tune.py",)),
            secrets={"HF_TOKEN": batch.Secret.from_secrets_manager(token, "token")},
        )
        corpus = s3.Bucket.from_bucket_name(self, "Corpus", "corpus-of-partner")
        DatasetBucket.from_bucket(self, "Dataset", corpus).grant_read(job)


def output_queue(scope: Construct, queue: batch.IJobQueue) -> None:
    """Output the queue, as code does that knows the CDK only."""
    cdk.CfnOutput(scope, "JobQueueArn", value=queue.job_queue_arn)


def let_through(file_system: fsx.IFileSystem, client: ec2.IConnectable) -> None:
    """Let a client mount a file system, as code does that knows the CDK only."""
    file_system.connections.allow_default_port_from(client)


class Mixed(cdk.Stack):
    """A cluster that takes objects of the CDK, and is taken by code for them."""

    def __init__(self, scope: Construct, construct_id: str, *, env: cdk.Environment) -> None:
        """Define the stack."""
        super().__init__(scope, construct_id, env=env)
        cluster = UltraCluster(
            self,
            "Cluster",
            instance_type=TYPE,
            node_count=2,
            image_id="ami-0123456789abcdef0",
            zone_id=ZONE,
            placement=ec2.PlacementGroupStrategy.CLUSTER,
            notify="you@example.com",
        )
        repository = ecr.Repository.from_repository_name(self, "Images", "training")
        job = cluster.add_multi_node_job(
            "Pretrain",
            Job(command=("train.py",)),
            image=ecs.ContainerImage.from_ecr_repository(repository, "v1"),
        )
        output_queue(self, cluster.queue)
        if cluster.file_system:
            let_through(cluster.file_system, ec2.Connections())
        cloudwatch.Alarm(
            self,
            "Slow",
            metric=job.metric_tokens_per_second(period=cdk.Duration.minutes(10), label="tokens"),
            threshold=1000,
            evaluation_periods=3,
        )


class Research(cdk.Stack):
    """Jobs of a team on a cluster of another app, with what may be asked of its interfaces."""

    def __init__(self, scope: Construct, construct_id: str, *, env: cdk.Environment) -> None:
        """Define the stack."""
        super().__init__(scope, construct_id, env=env)
        queue: ITrainingQueue = TrainingQueue.from_training_queue_attributes(
            self,
            "Queue",
            job_queue_arn="arn:aws:batch:us-east-2:123456789012:job-queue/train",
            instance_type=TYPE,
            max_nodes=4,
            log_group=logs.LogGroup.from_log_group_name(self, "Logs", "/platform/jobs"),
        )
        bucket = s3.Bucket.from_bucket_name(self, "Bucket", "platform-checkpoints")
        cluster: IUltraCluster = UltraCluster.from_ultra_cluster_attributes(
            self,
            "Cluster",
            cluster_name="platform",
            queue=queue,
            checkpoint_bucket=CheckpointBucket.from_bucket(self, "Checkpoints", bucket),
            compile_cache=CompileCache.from_bucket(self, "Graphs", bucket),
        )
        job = cluster.add_multi_node_job("Pretrain", Job(image=IMAGE, command=("train.py",)))
        researcher = iam.Role.from_role_name(self, "Researcher", "researcher")
        self.granted: list[iam.Grant] = [
            *(cluster.grant_submit(researcher), cluster.grant_read(researcher)),
            *(queue.grant_submit(researcher), queue.grant_read(researcher), job.grant_submit(researcher)),
        ]
        metrics: list[cloudwatch.Metric] = [
            cluster.metric_tokens_per_second(),
            cluster.metric_core_utilization(period=cdk.Duration.minutes(1)),
            queue.metric_jobs_moved_to_failed(statistic="Sum"),
        ]
        for number, metric in enumerate(metrics):
            metric.create_alarm(self, f"Alarm{number}", threshold=1, evaluation_periods=1)


def define(app: cdk.App) -> tuple[Platform, Closed, Research, Mixed]:
    """Define the stacks of the app."""
    env = cdk.Environment(account="123456789012", region="us-east-2")
    return (
        Platform(app, "Platform", env=env),
        Closed(app, "Closed", env=env),
        Research(app, "Research", env=env),
        Mixed(app, "Mixed", env=env),
    )
