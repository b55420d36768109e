"""The same job with the same data on four trn2.48xlarge and on four p5.48xlarge, and one table that compares the results.

Change the values below, then: cdk deploy --app "python3 examples/p5-bake-off/app.py". The program prints its figures
with `ultracluster_runtime.bake_off.report`; see `ultracluster docs machines` and `ultracluster docs training`.
"""

import aws_cdk as cdk

from ultracluster import (
    BakeOff,
    Candidate,
    CapacityBlock,
    ClusterNetwork,
    Job,
    NodeGroup,
    SharedFileSystem,
    TrainingImageRepository,
    TrainingQueue,
)

REGION, ZONE_ID = "us-east-2", "use2-az3"
NODES = 4
# For each side, REPLACE: the block, the AMI (for p5 an ECS GPU AMI with EFA and Lustre), the tag of its image in the
# repository below, and your price of a node-hour. The prices are those of blocks in us-east-2, 2026-10.
SIDES = {
    "trn2": ("trn2.48xlarge", "cr-0123456789abcdef0", "ami-0123456789abcdef0", "neuron-2026-11-20", 35.7608),
    "p5": ("p5.48xlarge", "cr-0123456789abcdef1", "ami-0123456789abcdef1", "cuda-2026-11-20", 41.528),
}

app = cdk.App()
stack = cdk.Stack(app, "BakeOff", env=cdk.Environment(region=REGION))
network = ClusterNetwork(
    stack, "Network", zone_id=ZONE_ID, instance_type="p5.48xlarge", node_count=NODES * len(SIDES)
)
file_system = SharedFileSystem(stack, "FileSystem", network=network)
images = TrainingImageRepository(stack, "Images")


def candidate(name: str) -> Candidate:
    """Define the nodes and the queue of one side."""
    instance_type, reservation_id, image_id, tag, price = SIDES[name]
    nodes = NodeGroup(
        stack,
        f"{name}-nodes",
        network=network,
        instance_type=instance_type,
        image_id=image_id,
        capacity=CapacityBlock(reservation_id=reservation_id, zone_id=ZONE_ID),
        file_system=file_system,
    )
    queue = TrainingQueue(stack, f"{name}-queue", nodes=nodes, max_nodes=NODES)
    return Candidate(queue=queue, image=images.image(tag), price_per_node_hour=price)


BakeOff(
    stack,
    "BakeOff",
    candidates={name: candidate(name) for name in SIDES},
    job=Job(command=("train.py", "--steps", "500", "--data", "/fsx/corpus"), timeout_hours=2),
    figures=["tokens_per_second", "loss"],
)
app.synth()
