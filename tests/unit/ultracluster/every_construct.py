"""One stack with each construct twice: with its required arguments, and with every argument at another value than its default."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import aws_cdk.assertions
from aws_cdk import aws_batch as batch
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sns as sns
from aws_cdk import aws_ssm as ssm
from tests.unit.ultracluster.builders import IMAGE, IMAGE_ID, RESERVATION, STANDING_ORDER, ZONE, new_stack

import ultracluster as uc
from ultracluster.operations.cluster_watch import ClusterWatch
from ultracluster_catalog.neuron.neuron_images import NeuronImage
from ultracluster_spec.alarms import Alarms

__all__ = ["KEY", "PATHS", "TOPIC", "TYPE", "construct_paths", "every_stack", "resources"]

PATHS = Path(__file__).with_name("construct_paths.txt")
TYPE = "trn2.48xlarge"
ACCOUNT = "123456789012"
KEY = f"arn:aws:kms:us-east-2:{ACCOUNT}:key/01234567-89ab-cdef-0123-456789abcdef"
TOPIC = f"arn:aws:sns:us-east-2:{ACCOUNT}:people"
JOB = uc.Job(image=IMAGE, command=("train.py",))


@cache
def every_stack() -> cdk.Stack:
    stack = new_stack()
    network = uc.ClusterNetwork(stack, "Network", zone_id=ZONE, instance_type=TYPE, node_count=4)
    _define_clusters(stack, network)
    _define_storage(stack, network)
    _define_others(stack)
    return stack


def _define_clusters(stack: cdk.Stack, network: uc.ClusterNetwork) -> None:
    key = kms.Key.from_key_arn(stack, "TheirKey", KEY)
    topic = sns.Topic.from_topic_arn(stack, "TheirTopic", TOPIC)
    open_network = uc.ClusterNetwork(
        stack,
        "FullNetwork",
        zone_id=ZONE,
        instance_type=TYPE,
        node_count=4,
        nic_layout="all-efa",
        cidr="10.3.0.0/16",
        subnet_prefix=22,
        nat_gateway=True,
        endpoints=["sts"],
        limit_endpoints=True,
    )
    files = uc.SharedFileSystem(stack, "FileSystem", network=network)
    metrics = uc.NodeMetrics(
        stack,
        "FullMetrics",
        cluster_name="llama",
        log_retention=logs.RetentionDays.ONE_WEEK,
        kms_key=key,
    )
    uc.NodeMetrics(stack, "Metrics", cluster_name="small")
    plain = uc.NodeGroup(stack, "Nodes", network=network, instance_type=TYPE, image_id=IMAGE_ID)
    reservation = uc.CapacityReservation(
        reservation_id=RESERVATION, zone_id=ZONE, placement_group="placed", name="reserved", max_nodes=3
    )
    full = uc.NodeGroup(
        stack,
        "FullNodes",
        network=network,
        instance_type=TYPE,
        image_id=IMAGE_ID,
        capacity=reservation,
        placement=uc.ClusterPlacement.for_capacity(stack, "Placed", reservation),
        file_system=files,
        root_volume=uc.RootVolume(size_gib=500, throughput=300),
        scratch_path="/scratch",
        tags={"team": "red"},
        metrics=metrics,
        kms_key=key,
    )
    spot = uc.NodeGroup(
        stack,
        "SpotNodes",
        network=open_network,
        instance_type=TYPE,
        image_id=IMAGE_ID,
        capacity=uc.Spot(
            zone_id=ZONE, allocation_strategy="capacity-optimized", max_price_percent=60, name="cheap"
        ),
    )
    queue = uc.TrainingQueue(stack, "Queue", nodes=plain, max_nodes=4)
    uc.TrainingQueue(stack, "SpotQueue", nodes=spot, max_nodes=2, kms_key=key)
    full_queue = uc.TrainingQueue(
        stack,
        "FullQueue",
        nodes=full,
        settings=uc.Queue(
            priority=7,
            shares={"research": 4},
            compute_reservation_percent=30,
            share_decay_hours=6,
            wait_limits=uc.WaitLimits(exceeds_nodes=2),
        ),
        log_retention=logs.RetentionDays.ONE_MONTH,
        kms_key=key,
    )
    uc.ClusterPlacement(stack, "Placement")
    block = uc.CapacityBlock(
        reservation_id="cr-0123456789abcdef1",
        zone_id=ZONE,
        start=datetime(2026, 12, 1, 11, 30, tzinfo=UTC),
        end=datetime(2026, 12, 8, 11, 30, tzinfo=UTC),
    )
    on_block = uc.UltraCluster(
        stack,
        "Cluster",
        instance_type=TYPE,
        node_count=2,
        image_id=IMAGE_ID,
        capacity=block,
        network=network,
        checkpoint_lead=cdk.Duration.minutes(25),
        max_refusals=5,
        sick_nodes="replace",
        kms_key=key,
        notify=topic,
        cluster_name="llama",
        alarms=uc.Alarms(emails=["jane@example.com"]),
    )
    on_block.add_queue("second", uc.Queue(priority=9))
    on_block.add_multi_node_job("Pretrain", replace(JOB, resume=2))
    joined = uc.UltraCluster(
        stack,
        "JoinedCluster",
        instance_type=TYPE,
        node_count=2,
        image_id=IMAGE_ID,
        network=network,
        alarms=uc.Alarms(enabled=False),
        capacity=uc.CapacityBlock(
            reservation_id="cr-0123456789abcdef2", zone_id=ZONE, launched_by="auto-scaling"
        ),
    )
    joined.add_multi_node_job("Array", JOB)
    _define_jobs(stack, queue, full_queue, files)
    uc.BlockLifecycle(stack, "Lifecycle", block=block, queue=on_block.queue)
    ClusterWatch(
        stack, "Watch", metrics=metrics, queue=queue, node_groups=[plain, full], kms_key=key
    ).track_queue(full_queue)
    uc.ClusterAlarms(stack, "Alarms", metrics=metrics)
    uc.ClusterAlarms(
        stack,
        "FullAlarms",
        metrics=metrics,
        file_system=files,
        topic=topic,
        settings=Alarms(
            idle_percent=7, idle_minutes=11, drain_minutes=45, wait_minutes=35, cache_misses=9,
            collective_percent=45, stalled_steps=6, free_percent=12,
        ),
    )  # fmt: skip
    uc.ClusterDashboard(stack, "Dashboard", cluster=on_block)
    uc.ClusterBudget(stack, "Budget", monthly_usd=1000, tag_value="llama")
    uc.ClusterBudget(
        stack,
        "ClosingBudget",
        monthly_usd=1000,
        tag_value="llama",
        actual_percents=[],
        forecast_percents=[],
        queues_to_close=[queue],
    )
    uc.ClusterBudget(
        stack,
        "FullBudget",
        monthly_usd=2500,
        tag_value="red",
        tag_key="team",
        actual_percents=[40, 90],
        forecast_percents=[110],
        emails=["jane@example.com"],
        queues_to_close=[queue, full_queue],
        close_at_percent=95,
        kms_key=key,
    )


def _define_jobs(
    stack: cdk.Stack, queue: uc.TrainingQueue, full_queue: uc.TrainingQueue, files: uc.SharedFileSystem
) -> None:
    cache = uc.PosixCompileCache(files)
    first = uc.SingleNodeJob(stack, "Single", JOB, queue=queue)
    token = ssm.StringParameter.from_secure_string_parameter_attributes(
        stack, "Token", parameter_name="/token"
    )
    uc.SingleNodeJob(
        stack,
        "FullSingle",
        uc.Job(
            image=IMAGE,
            command=("tune.py",),
            array_size=4,
            processes_per_node=16,
            environment={"SEED": "3"},
            timeout_hours=3,
            attempts=2,
            launcher="torchrun",
        ),
        queue=full_queue,
        compile_cache=cache,
        secrets={"TOKEN": batch.Secret.from_ssm_parameter(token)},
        depends_on=[first],
    )
    uc.MultiNodeJob(stack, "Multi", JOB, queue=queue)
    uc.MultiNodeJob(stack, "FullMulti", replace(JOB, nodes=2, launcher="jax", attempts=3), queue=full_queue)
    own_cache = uc.CompileCache(stack, "GraphCache")
    uc.PrecompileJob(stack, "Precompile", JOB, queue=queue, compile_cache=own_cache)
    uc.PrecompileJob(
        stack,
        "FullPrecompile",
        replace(JOB, phase="collect"),
        queue=queue,
        compile_cache=own_cache,
        retries=4,
    )
    check = replace(JOB, command=("model.py", "build"))
    uc.SupportCheck(stack, "Check", check, queue=queue)
    uc.SupportCheck(stack, "FullCheck", check, queue=queue, for_instance_type="trn1.2xlarge")
    uc.FabricGate(stack, "Gate", queue=queue, image=IMAGE)
    uc.FabricGate(
        stack,
        "FullGate",
        queue=queue,
        image=IMAGE,
        node_count=2,
        min_bandwidth=10.5,
        max_latency=40,
        patience=cdk.Duration.minutes(5),
    )
    uc.SmokeTrain(stack, "Smoke", queue=queue, image=IMAGE)
    uc.SmokeTrain(
        stack,
        "FullSmoke",
        queue=queue,
        image=IMAGE,
        node_count=2,
        processes_per_node=4,
        device="neuron",
        steps=9,
        timeout=cdk.Duration.minutes(12),
    )
    uc.BakeOff(
        stack,
        "Bake",
        candidates={
            "one": uc.Candidate(queue=queue, image=IMAGE, node_count=2, price_per_node_hour=21.5),
            "two": uc.Candidate(queue=full_queue, image=IMAGE),
        },
        job=uc.Job(command=("train.py",)),
    )


def _define_storage(stack: cdk.Stack, network: uc.ClusterNetwork) -> None:
    key = kms.Key.from_key_arn(stack, "StorageKey", KEY)
    destroy = cdk.RemovalPolicy.DESTROY
    there = s3.Bucket.from_bucket_name(stack, "There", "cache-there")
    uc.CheckpointBucket(stack, "Checkpoints")
    checkpoints = uc.CheckpointBucket(
        stack,
        "FullCheckpoints",
        kms_key=key,
        noncurrent_version_expiration=cdk.Duration.days(3),
        removal_policy=destroy,
    )
    data = uc.DatasetBucket(stack, "Dataset")
    uc.DatasetBucket(
        stack,
        "FullDataset",
        kms_key=key,
        noncurrent_version_expiration=cdk.Duration.days(4),
        infrequent_access_after=cdk.Duration.days(45),
        removal_policy=destroy,
    )
    uc.CompileCache(stack, "Cache")
    uc.CompileCache(
        stack,
        "FullCache",
        expire_after=cdk.Duration.days(60),
        expire_compilers={"2.16": cdk.Duration.days(20)},
        request_metrics=True,
        replicate_to=[there],
        removal_policy=destroy,
    )
    uc.CompileCache(stack, "VersionedCache", versioned=True, kms_key=key)
    uc.SharedFileSystem(
        stack,
        "FullFileSystem",
        network=network,
        settings=uc.FileSystem(
            storage_capacity_gib=38400,
            per_unit_storage_throughput=500,
            metadata_iops=12000,
            data_compression=False,
            associations=[data.association("/data")],
        ),
        efa_clients="p5.48xlarge",
        kms_key=key,
        checkpoint_bucket=checkpoints,
        checkpoint_path="/saved",
        mount_path="/lustre",
        removal_policy=destroy,
    )
    uc.SharedFileSystem(
        stack,
        "BackedUpFileSystem",
        network=network,
        settings=uc.FileSystem(
            storage_capacity_gib=2400,
            backup_retention_days=5,
            backup_start_time="03:30",
            copy_tags_to_backups=True,
        ),
    )
    uc.SharedFileSystem(
        stack,
        "TieredFileSystem",
        network=network,
        settings=uc.FileSystem(
            storage_type="INTELLIGENT_TIERING",
            throughput_capacity=4000,
            read_cache="USER_PROVISIONED",
            read_cache_gib=131072,
        ),
    )
    uc.SharedFileSystem(
        stack,
        "ScratchFileSystem",
        network=network,
        settings=uc.FileSystem(deployment_type="SCRATCH_2", storage_capacity_gib=2400),
    )


def _define_others(stack: cdk.Stack) -> None:
    key = kms.Key.from_key_arn(stack, "OtherKey", KEY)
    people = iam.AccountRootPrincipal()
    ledger = uc.CapacityLedger(stack, "Ledger")
    uc.CapacityLedger(stack, "FullLedger", kms_key=key)
    uc.CapacityGuard(stack, "Guard")
    uc.CapacityGuard(stack, "FullGuard", emails=["jane@example.com"], kms_key=key)
    uc.CapacityWatch(stack, "CapacityWatch", order=STANDING_ORDER, instance_type=TYPE)
    uc.CapacityWatch(
        stack,
        "FullCapacityWatch",
        order=replace(STANDING_ORDER, at_least=2, regions=("us-east-2", "ap-south-2")),
        instance_type=TYPE,
        emails=["jane@example.com"],
        kms_key=key,
    )
    uc.CapacitySearchRole(stack, "Search", trusted_by=people)
    uc.CapacitySearchRole(stack, "FullSearch", trusted_by=people, ledger=ledger)
    uc.CapacityPurchaseRole(
        stack,
        "Purchase",
        trusted_by=people,
        ledger=ledger,
        regions=["us-east-2"],
        instance_types=[TYPE],
        max_instances=4,
    )
    uc.ClusterKey(stack, "Key")
    uc.ClusterKey(stack, "FullKey", removal_policy=cdk.RemovalPolicy.DESTROY)
    uc.TrainingImageRepository(stack, "Images")
    uc.TrainingImageRepository(
        stack,
        "FullImages",
        untagged_days=3,
        kms_key=key,
        removal_policy=cdk.RemovalPolicy.DESTROY,
    )
    uc.PullThroughCache(stack, "Pulled")
    uc.PullThroughCache(stack, "FullPulled", prefix="neuron-images")
    parent = NeuronImage(kind="ecs-neuron", image_id=IMAGE_ID)
    uc.NeuronAmi(stack, "Ami", name="nodes", parent=parent)
    vpc = ec2.Vpc.from_vpc_attributes(
        stack, "TheirVpc", vpc_id="vpc-01234567", availability_zones=["us-east-2c"]
    )
    uc.ClusterNetwork.from_subnet(
        stack,
        "TheirNetwork",
        vpc=vpc,
        subnet=ec2.Subnet.from_subnet_attributes(stack, "TheirNodes", subnet_id="subnet-76543210"),
        zone_id=ZONE,
        instance_type=TYPE,
        node_count=2,
        security_group=ec2.SecurityGroup.from_security_group_id(stack, "TheirGroup", "sg-01234567"),
        add_efa_rules=True,
        default_security_group=ec2.SecurityGroup.from_security_group_id(stack, "Default", "sg-76543210"),
    )
    uc.NeuronAmi(
        stack,
        "FullAmi",
        name="large-nodes",
        parent=parent,
        container_images=[IMAGE],
        cloudwatch_agent=False,
        vpc=vpc,
        subnet=ec2.Subnet.from_subnet_attributes(stack, "TheirSubnet", subnet_id="subnet-01234567"),
        instance_type="c7i.xlarge",
        root_volume_gib=250,
        regions=["us-west-2"],
    )
    uc.SageMakerTrainingQueue(stack, "SageMaker", instances={"ml.trn2.48xlarge": 4})
    uc.SageMakerTrainingQueue(
        stack,
        "FullSageMaker",
        instances={"ml.trn2.48xlarge": 4},
        shares=[
            uc.QuotaShare(
                name="red",
                instances={"ml.trn2.48xlarge": 3},
                sharing="LEND_AND_BORROW",
                borrow_limit_percent=50,
                preempt_within=True,
            )
        ],
    )
    uc.RegionsDashboard(stack, "Regions", clusters=[("llama", "us-east-2")])


@cache
def resources() -> Mapping[str, Mapping[str, Any]]:
    """Each resource as the template has it, by the path of its construct in the stack."""
    stack = every_stack()
    template = cdk.assertions.Template.from_stack(stack).to_json()["Resources"]
    return {
        each.node.path.removeprefix("Test/"): template[stack.resolve(each.logical_id)]
        for each in stack.node.find_all()
        if isinstance(each, cdk.CfnResource)
    }


def construct_paths() -> list[str]:
    """The type and path of each resource, in order."""
    return sorted(f"{each['Type']} {path}" for path, each in resources().items())
