"""AWS Batch: a managed compute environment over the nodes, and the queue in front of it."""

from aws_cdk import RemovalPolicy
from aws_cdk import aws_batch as batch
from aws_cdk import aws_logs as logs
from constructs import Construct

from ultracluster.node_group import NodeGroup
from ultracluster_catalog.findings import Finding, FindingsError, quote

__all__ = ["TrainingQueue"]

# The longest that AWS Batch allows (API reference of UpdatePolicy, botocore 1.44.5). The default of 30 minutes
# would end a training run in the middle whenever the launch template changes.
_UPDATE_TIMEOUT_MINUTES = 7200

_MOST_NODES = 1000  # of a multi-node parallel job, AWS Batch User Guide, read 2026-10
_SHARE_DECAY_SECONDS = 24 * 3600


class TrainingQueue(Construct):
    """A job queue with fair-share scheduling over one compute environment.

    A job names a share identifier when it is submitted; identifiers that are not known weigh the same. No time
    limit acts on waiting jobs: it would cancel those that wait for a Capacity Block to start.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        nodes: NodeGroup,
        max_nodes: int,
        log_retention: logs.RetentionDays = logs.RetentionDays.THREE_MONTHS,
    ) -> None:
        """Define the queue.

        Args:
            scope: Where to add it.
            construct_id: Its id there.
            nodes: Nodes that the compute environment launches.
            max_nodes: Most nodes at one time, 1 to 1000. Decides maxvCpus exactly: AWS Batch's usual 256 would
                be one trn2.48xlarge, and a job of two would wait for ever.
            log_retention: How long job logs are kept. Default: three months.

        Raises:
            FindingsError: If max_nodes is outside 1 to 1000 (UC4101).
        """
        if not 1 <= max_nodes <= _MOST_NODES:
            raise FindingsError(
                [
                    Finding(
                        code="UC4101",
                        problem=f"got {quote(max_nodes)}",
                        allowed=f"1 to {_MOST_NODES}",
                        path="max_nodes",
                    )
                ]
            )
        super().__init__(scope, construct_id)
        self._nodes = nodes
        self._max_nodes = max_nodes
        self._log_group = logs.LogGroup(
            self, "Logs", retention=log_retention, removal_policy=RemovalPolicy.RETAIN
        )
        environment = self._define_compute_environment(nodes, max_nodes)
        policy = batch.CfnSchedulingPolicy(
            self,
            "SchedulingPolicy",
            fairshare_policy=batch.CfnSchedulingPolicy.FairsharePolicyProperty(
                share_decay_seconds=_SHARE_DECAY_SECONDS
            ),
        )
        queue = batch.CfnJobQueue(
            self,
            "Resource",
            priority=1,
            job_queue_type="ECS",
            scheduling_policy_arn=policy.attr_arn,
            compute_environment_order=[
                batch.CfnJobQueue.ComputeEnvironmentOrderProperty(
                    compute_environment=environment.attr_compute_environment_arn, order=1
                )
            ],
        )
        self._job_queue_arn = queue.attr_job_queue_arn
        self._compute_environment_arn = environment.attr_compute_environment_arn

    def _define_compute_environment(self, nodes: NodeGroup, max_nodes: int) -> batch.CfnComputeEnvironment:
        # No name and no tags: both are create-only, so that a change would replace the environment.
        environment = batch.CfnComputeEnvironment(
            self,
            "ComputeEnvironment",
            type="MANAGED",
            state="ENABLED",
            replace_compute_environment=False,
            update_policy=batch.CfnComputeEnvironment.UpdatePolicyProperty(
                terminate_jobs_on_update=False, job_execution_timeout_minutes=_UPDATE_TIMEOUT_MINUTES
            ),
            compute_resources=batch.CfnComputeEnvironment.ComputeResourcesProperty(
                type="EC2",
                # BEST_FIT cannot be updated in place; with one instance type the two choose the same.
                allocation_strategy="BEST_FIT_PROGRESSIVE",
                minv_cpus=0,
                maxv_cpus=max_nodes * nodes.instance_type.vcpus,
                instance_types=[nodes.instance_type.name],
                instance_role=nodes.instance_profile_arn,
                subnets=[nodes.network.subnet_id],
                # The interface of a multi-node task takes these groups only, never the launch template's.
                security_group_ids=[nodes.network.security_group.security_group_id],
                placement_group=nodes.placement.placement_group_name if nodes.placement else None,
                launch_template=batch.CfnComputeEnvironment.LaunchTemplateSpecificationProperty(
                    launch_template_id=nodes.launch_template_id, version=nodes.launch_template_version
                ),
                # AWS Batch has no image type for Neuron; ECS_AL2023 with our image is the ECS agent on AL2023.
                ec2_configuration=[
                    batch.CfnComputeEnvironment.Ec2ConfigurationObjectProperty(
                        image_type="ECS_AL2023_NVIDIA" if nodes.instance_type.gpus else "ECS_AL2023",
                        image_id_override=nodes.image_id,
                    )
                ],
            ),
        )
        environment.node.add_dependency(nodes.role)
        return environment

    @property
    def compute_environment_arn(self) -> str:
        """ARN of the compute environment."""
        return self._compute_environment_arn

    @property
    def job_queue_arn(self) -> str:
        """ARN of the job queue."""
        return self._job_queue_arn

    @property
    def log_group(self) -> logs.ILogGroup:
        """Log group of the jobs."""
        return self._log_group

    @property
    def max_nodes(self) -> int:
        """Most nodes at one time."""
        return self._max_nodes

    @property
    def nodes(self) -> NodeGroup:
        """Nodes that the compute environment launches."""
        return self._nodes
