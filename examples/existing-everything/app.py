"""Nodes, a queue and a job that use an existing network, file system, buckets, images and log group.

Change the values below, then: cdk deploy --app "python3 examples/existing-everything/app.py"
"""

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3

from ultracluster import (
    CapacityReservation,
    CheckpointBucket,
    ClusterNetwork,
    CompileCache,
    ContainerImage,
    Job,
    MultiNodeJob,
    NodeGroup,
    SharedFileSystem,
    TrainingQueue,
)

REGION, ZONE_ID, INSTANCE_TYPE, NODES = "us-east-2", "use2-az3", "trn1.32xlarge", 4
app = cdk.App()
stack = cdk.Stack(app, "Training", env=cdk.Environment(region=REGION))
# REPLACE every ID and name. Nothing is looked up; only rules between the two security groups are added.
vpc = ec2.Vpc.from_vpc_attributes(
    stack, "Vpc", vpc_id="vpc-0123456789abcdef0", availability_zones=["us-east-2c"]
)
subnet = ec2.Subnet.from_subnet_attributes(
    stack, "Subnet", subnet_id="subnet-0123456789abcdef0", route_table_id="rtb-0123456789abcdef0"
)
network = ClusterNetwork.from_subnet(
    stack,
    "Network",
    vpc=vpc,
    subnet=subnet,
    zone_id=ZONE_ID,
    instance_type=INSTANCE_TYPE,
    node_count=NODES,
    security_group=ec2.SecurityGroup.from_security_group_id(stack, "NodesGroup", "sg-0123456789abcdef0"),
    add_efa_rules=True,
)
cdk.Validations.of(network).acknowledge(cdk.Acknowledgment(id="ultracluster:UC3208", reason="unchanged"))
file_system = SharedFileSystem.from_attributes(
    stack,
    "FileSystem",
    network=network,
    file_system_id="fs-0123456789abcdef0",
    mount_name="abcdefgh",
    zone_id=ZONE_ID,
    security_group=ec2.SecurityGroup.from_security_group_id(stack, "LustreGroup", "sg-0123456789abcdef1"),
)
checkpoints = s3.Bucket.from_bucket_name(stack, "CheckpointsBucket", "their-checkpoints")
cache = s3.Bucket.from_bucket_name(stack, "CacheBucket", "their-compile-cache")
images = ecr.Repository.from_repository_name(stack, "Images", "their/training")
nodes = NodeGroup(
    stack,
    "Nodes",
    network=network,
    instance_type=INSTANCE_TYPE,
    image_id="ami-0123456789abcdef0",
    capacity=CapacityReservation(reservation_id="cr-0123456789abcdef0", zone_id=ZONE_ID),
    file_system=file_system,
)
log_group = logs.LogGroup.from_log_group_name(stack, "Logs", "/their/training")
queue = TrainingQueue(stack, "Queue", nodes=nodes, max_nodes=NODES, log_group=log_group)
job = MultiNodeJob(
    stack,
    "Pretrain",
    Job(command=("train.py", "--config", "/fsx/pretrain.yaml")),
    queue=queue,
    image=ContainerImage.from_repository(images, "2026-11-20"),
    compile_cache=CompileCache.from_bucket(stack, "CompileCache", cache, prefix="team-a/neuron"),
)
CheckpointBucket.from_bucket(stack, "Checkpoints", checkpoints).grant_use(job)
app.synth()
