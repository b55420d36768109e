"""An AMI for the nodes of a cluster: the ECS Neuron AMI with EFA, the Lustre client and a training image.

Change the values below, then: cdk deploy --app "python3 examples/node-image/app.py". This creates a pipeline
without starting it. `ultracluster docs images` describes how to build an AMI and pin a rollout to it.
"""

import aws_cdk as cdk

from ultracluster import NeuronAmi
from ultracluster_catalog.neuron.neuron_images import NeuronImage

REGION = "us-east-2"
# REPLACE with the AMI that `ultracluster ami resolve` shows for REGION: an AMI belongs to one Region.
PARENT = NeuronImage(kind="ecs-neuron", image_id="ami-0123456789abcdef0")
IMAGE = f"123456789012.dkr.ecr.{REGION}.amazonaws.com/training:2026-11-20"  # REPLACE, or leave it out

app = cdk.App()
stack = cdk.Stack(app, "NodeImage", env=cdk.Environment(region=REGION))
ami = NeuronAmi(stack, "Ami", name="nodes", parent=PARENT, container_images=[IMAGE], regions=["us-east-1"])
cdk.CfnOutput(stack, "Pipeline", value=ami.pipeline_arn)
app.synth()
