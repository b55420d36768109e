"""A cluster and its training job in your own CDK app.

Change the values below, then: cdk deploy --app "python3 examples/own-app/app.py"
"""

import aws_cdk as cdk

from ultracluster import CapacityBlock, Job, UltraCluster

app = cdk.App()
stack = cdk.Stack(app, "Training", env=cdk.Environment(region="us-east-2"))
cluster = UltraCluster(
    stack,
    "Cluster",
    instance_type="trn2.48xlarge",
    node_count=4,
    image_id="ami-0123456789abcdef0",
    capacity=CapacityBlock(reservation_id="cr-0123456789abcdef0", zone_id="use2-az3"),
    notify=["you@example.com"],  # notified of lost nodes, idle capacity and the end of the block
)
cluster.add_multi_node_job(
    "Pretrain",
    Job(
        image="123456789012.dkr.ecr.us-east-2.amazonaws.com/training:2026-11-20",
        command=("train.py", "--config", "/fsx/pretrain.yaml"),
        resume=10,
    ),
)
app.synth()
