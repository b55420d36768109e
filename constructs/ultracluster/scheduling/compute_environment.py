"""AWS Batch compute environment for the nodes of one capacity source."""

from dataclasses import dataclass

from aws_cdk import aws_batch as batch
from constructs import Construct

from ultracluster.nodes.node_group import NodeGroup
from ultracluster_spec.capacity import Spot

# The maximum of AWS Batch (API reference of UpdatePolicy, botocore 1.44.5). The default of 30 minutes would terminate
# training runs whenever the launch template changes.
_UPDATE_TIMEOUT_MINUTES = 7200

_STRATEGIES = {
    "best-fit": "BEST_FIT",
    "best-fit-progressive": "BEST_FIT_PROGRESSIVE",
    "capacity-optimized": "SPOT_CAPACITY_OPTIMIZED",
    "price-capacity-optimized": "SPOT_PRICE_CAPACITY_OPTIMIZED",
}

# Idle nodes of prepaid capacity cost nothing more, and a new one takes minutes to boot and to pull images. A day covers a
# night without jobs; AWS Batch accepts 20 to 10,080 minutes (API reference of ComputeScalingPolicy, read 2026-11).
_PREPAID_DELAY_MINUTES = 24 * 60


@dataclass(frozen=True, kw_only=True, slots=True)
class ComputeEnvironment:
    """A compute environment of a queue.

    Attributes:
        arn: ARN of the compute environment.
        nodes: Nodes that it launches.
        max_nodes: Maximum number of nodes at one time.
    """

    arn: str
    nodes: NodeGroup
    max_nodes: int

    @property
    def is_spot(self) -> bool:
        """Whether its nodes are Spot nodes, on which multi-node parallel jobs cannot run."""
        return isinstance(self.nodes.capacity, Spot)

    @property
    def is_managed(self) -> bool:
        """Whether AWS Batch starts its nodes, and runs multi-node parallel jobs on them."""
        return self.nodes.joins is None

    @property
    def source_name(self) -> str | None:
        """Name of its capacity source; None for the source without a name."""
        return self.nodes.capacity.name if self.nodes.capacity else None


def define_compute_environment(
    scope: Construct, construct_id: str, *, nodes: NodeGroup, max_nodes: int
) -> ComputeEnvironment:
    """Define a managed compute environment, or take the unmanaged one that the nodes join."""
    if nodes.joins:
        return ComputeEnvironment(arn=nodes.joins.compute_environment_arn, nodes=nodes, max_nodes=max_nodes)
    spot = nodes.capacity if isinstance(nodes.capacity, Spot) else None
    strategy = nodes.capacity.strategy if nodes.capacity else "best-fit-progressive"
    # "BEST_FIT isn't supported when updating compute environments" (AWS Batch User Guide, allocation strategies, read
    # 2026-11): CloudFormation makes another environment, moves the queue, in which waiting jobs stay, and removes this one.
    in_place = strategy != "best-fit"
    # Neither name nor tags are set: a change of tags would replace the environment, and a name would prevent a replacement.
    environment = batch.CfnComputeEnvironment(
        scope,
        construct_id,
        type="MANAGED",
        state="ENABLED",
        replace_compute_environment=not in_place,
        update_policy=batch.CfnComputeEnvironment.UpdatePolicyProperty(
            terminate_jobs_on_update=False, job_execution_timeout_minutes=_UPDATE_TIMEOUT_MINUTES
        )
        if in_place
        else None,
        compute_resources=batch.CfnComputeEnvironment.ComputeResourcesProperty(
            type="SPOT" if spot else "EC2",
            allocation_strategy=_STRATEGIES[strategy],
            scaling_policy=batch.CfnComputeEnvironment.ComputeScalingPolicyProperty(
                min_scale_down_delay_minutes=_PREPAID_DELAY_MINUTES
            )
            if nodes.capacity and nodes.capacity.prepaid
            else None,
            bid_percentage=spot.max_price_percent if spot else None,
            minv_cpus=0,
            maxv_cpus=max_nodes * nodes.instance_type.vcpus,
            instance_types=[nodes.instance_type.name],
            instance_role=nodes.instance_profile_arn,
            subnets=[nodes.network.subnet_id],
            # No security groups: the launch template's interfaces have theirs, and AWS Batch rejects both
            # (aws/aws-cdk#21577). The interface of a multi-node task uses the VPC's default group: decision 0018.
            placement_group=nodes.placement.placement_group_name if nodes.placement else None,
            launch_template=batch.CfnComputeEnvironment.LaunchTemplateSpecificationProperty(
                launch_template_id=nodes.launch_template_id, version=nodes.launch_template_version
            ),
            # AWS Batch has no image type for Neuron; ECS_AL2023 with our image is the ECS agent on Amazon Linux 2023.
            ec2_configuration=[
                batch.CfnComputeEnvironment.Ec2ConfigurationObjectProperty(
                    image_type="ECS_AL2023_NVIDIA" if nodes.instance_type.gpus else "ECS_AL2023",
                    image_id_override=nodes.image_id,
                )
            ],
        ),
    )
    return ComputeEnvironment(arn=environment.attr_compute_environment_arn, nodes=nodes, max_nodes=max_nodes)
