"""The AMI of a cluster's nodes: the ECS Neuron AMI with EFA, the Lustre client and a training image in it.

Change the values below, then: cdk deploy --app "python3 examples/node-image/app.py". That makes a pipeline and starts
nothing. `ultracluster docs images` says how an AMI comes of it, and how a rollout is pinned to that.
"""

import aws_cdk as cdk

from ultracluster import NeuronAmi
from ultracluster_catalog.neuron.neuron_images import NeuronImage

REGION = "us-east-2"
# REPLACE with what `ultracluster ami resolve` shows for REGION: AMIs belong to one Region.
PARENT = NeuronImage(kind="ecs-neuron", image_id="ami-0123456789abcdef0")
IMAGE = f"123456789012.dkr.ecr.{REGION}.amazonaws.com/training:2026-11-20"  # REPLACE, or leave it out

app = cdk.App()
stack = cdk.Stack(app, "NodeImage", env=cdk.Environment(region=REGION))
ami = NeuronAmi(stack, "Ami", name="nodes", parent=PARENT, container_images=[IMAGE], regions=["us-east-1"])
cdk.CfnOutput(stack, "Pipeline", value=ami.pipeline_arn)
app.synth()
