"""The CDK app of `ultracluster ami bake`: a pipeline for an AMI, as examples/node-image has it."""

import aws_cdk as cdk

from ultracluster import NeuronAmi
from ultracluster_catalog.neuron.neuron_images import NeuronImage


def main() -> None:
    """Synthesize the stack that the context of the app describes."""
    app = cdk.App()
    name, region, parent = (str(app.node.get_context(key)) for key in ("name", "region", "parent"))
    stack = cdk.Stack(app, f"{name}-image", env=cdk.Environment(region=region))
    NeuronAmi(stack, "Ami", name=name, parent=NeuronImage(kind="ecs-neuron", image_id=parent))
    app.synth()


if __name__ == "__main__":
    main()
