"""A training run on two Trn2 UltraServers with 128 chips; gates test the fabric and the arithmetic first.

Change the values below, then: cdk deploy --app "python3 examples/ultraserver-pretrain/app.py", and submit `Pretrain`
with `ultracluster jobs submit`, which also submits its two gates.
"""

from datetime import UTC, datetime

import aws_cdk as cdk

from ultracluster import (
    CapacityBlock,
    CheckpointBucket,
    ClusterNetwork,
    FileSystem,
    Job,
    Neuron,
    SharedFileSystem,
    UltraCluster,
)

# Blocks contain whole UltraServers, of four trn2u.48xlarge each.
REGION, ZONE_ID = "us-east-2", "use2-az2"
INSTANCE_TYPE, NODES = "trn2u.48xlarge", 8
IMAGE_ID = "ami-0123456789abcdef0"  # REPLACE with the AMI that `ultracluster ami resolve` shows for REGION
IMAGE = f"123456789012.dkr.ecr.{REGION}.amazonaws.com/pretrain:2026-11-20"  # REPLACE
# REPLACE with the block that you bought, as `ultracluster capacity status` shows it.
BLOCK = CapacityBlock(
    reservation_id="cr-0123456789abcdef0",
    zone_id=ZONE_ID,
    start=datetime(2026, 12, 1, 11, 30, tzinfo=UTC),
    end=datetime(2026, 12, 15, 11, 30, tzinfo=UTC),
)

app = cdk.App()
stack = cdk.Stack(app, "Pretrain", env=cdk.Environment(region=REGION))
checkpoints = CheckpointBucket(stack, "Checkpoints")
network = ClusterNetwork(stack, "Network", zone_id=ZONE_ID, instance_type=INSTANCE_TYPE, node_count=NODES)
file_system = SharedFileSystem(
    stack,
    "FileSystem",
    network=network,
    settings=FileSystem(
        storage_capacity_gib=19200,  # eight object servers, 40 Gbit/s for each node
        per_unit_storage_throughput=500,
    ),
    checkpoint_bucket=checkpoints.bucket,
)
cluster = UltraCluster(
    stack,
    "Cluster",
    instance_type=INSTANCE_TYPE,
    node_count=NODES,
    image_id=IMAGE_ID,
    capacity=BLOCK,
    network=network,
    file_system=file_system,
    checkpoint_bucket=checkpoints,
    checkpoint_lead=cdk.Duration.minutes(30),
    notify=["you@example.com"],  # notified of lost nodes, idle capacity and the end of the block
)
neuron = Neuron(logical_nc_config=2, model_type="transformer", optlevel=1)
fabric = cluster.add_fabric_gate("Fabric", image=IMAGE, neuron=neuron)
smoke = cluster.add_smoke_train("Smoke", image=IMAGE, neuron=neuron, depends_on=[fabric])
cluster.add_multi_node_job(
    "Pretrain",
    Job(
        image=IMAGE,
        command=("train.py", "--config", "/fsx/pretrain.yaml"),
        neuron=neuron,
        attempts=5,
        resume=10,
    ),
    depends_on=[smoke],
)
app.synth()
