"""A sweep of sixteen fine-tuning jobs on Spot trn1.2xlarge, compiled once in advance on an on-demand node.

Change the values below, then: cdk deploy --app "python3 examples/trn1-spot-fine-tune/app.py". It needs no
reserved capacity. Idle queues cost nothing, but VPC endpoints and the file system are billed by the hour.
"""

import aws_cdk as cdk

from ultracluster import CompileCache, DatasetBucket, Job, Neuron, Spot, UltraCluster

REGION = "us-east-2"
IMAGE_ID = "ami-0123456789abcdef0"  # REPLACE with the AMI that `ultracluster ami resolve` shows for REGION
IMAGE = f"123456789012.dkr.ecr.{REGION}.amazonaws.com/fine-tune:2026-11-20"  # REPLACE

app = cdk.App()
stack = cdk.Stack(app, "FineTune", env=cdk.Environment(region=REGION))
cluster = UltraCluster(
    stack,
    "Cluster",
    instance_type="trn1.2xlarge",
    node_count=8,
    image_id=IMAGE_ID,
    capacity=Spot(zone_id="use2-az3", max_price_percent=60),
    compile_cache=CompileCache(stack, "CompileCache", expire_after=cdk.Duration.days(90)),
    scratch_path="/scratch",  # one disk, so that the AMI needs no mdadm
)
data = DatasetBucket(stack, "Data")
neuron = Neuron(model_type="transformer", auto_cast="matmult")
warm = cluster.add_precompile_job(
    "Warm",
    Job(
        image=IMAGE,
        command=("fine_tune.py", "--steps", "10"),
        instance_type="trn1.2xlarge",
        method="first-steps",
        neuron=neuron,
    ),
)
sweep = cluster.add_single_node_job(
    "Sweep",
    Job(
        image=IMAGE,
        command=("fine_tune.py", "--checkpoints", "/fsx/checkpoints"),
        array_size=16,
        attempts=10,
        timeout_hours=12,
        neuron=neuron,
    ),
    depends_on=[warm],
)
data.grant_read(warm)
data.grant_read(sweep)
cdk.CfnOutput(stack, "DataBucket", value=data.bucket.bucket_name)
app.synth()
