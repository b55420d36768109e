"""Life cycle of a Capacity Block in a cluster: opened at its start, drained before its end, reported afterwards."""

from typing import Final, Unpack

from aws_cdk import Aws, Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from constructs import Construct

from ultracluster._foundation.metric_options import MetricOptions
from ultracluster._foundation.permissions import allow
from ultracluster._foundation.private_topic import publish_statements
from ultracluster._foundation.scheduled_function import ScheduledFunction
from ultracluster._foundation.state_table import StateTable
from ultracluster.nodes.agent_policy import cluster_of_environment
from ultracluster.nodes.node_fleet import NodeFleet
from ultracluster.nodes.node_metrics import NodeMetrics
from ultracluster.scheduling.compute_environment import ComputeEnvironment
from ultracluster.scheduling.training_queue import TrainingQueue
from ultracluster_catalog.capacity.capacity_blocks import (
    BLOCK_DELIVERED_EVENTS,
    BLOCK_EXPIRATION_WARNING_EVENTS,
)
from ultracluster_catalog.names.cluster_tag import CLUSTER_TAG, RESERVATION_TAG
from ultracluster_spec.arguments import validate_arguments
from ultracluster_spec.capacity import (
    CHECKPOINT_LEAD_MINUTES,
    MAX_REFUSALS,
    CapacityBlock,
    CapacityReservation,
    SickNodes,
    check_sick_nodes,
)
from ultracluster_spec.cluster import Cluster
from ultracluster_spec.findings import Finding, FindingsError, quote
from ultracluster_spec.values import default_of

# Actions without resource-level permissions.
_LOOK = (
    "batch:DescribeComputeEnvironments",
    "batch:DescribeJobQueues",
    "batch:DescribeJobs",
    "batch:ListJobs",
    "ec2:DescribeCapacityBlockExtensionHistory",
    "ec2:DescribeCapacityBlockExtensionOfferings",
    "ec2:DescribeCapacityReservations",
    "ec2:DescribeInstances",
    "ec2:DescribeLaunchTemplateVersions",
)

_DEFAULT_LEAD: Final = default_of(Cluster, "checkpoint_lead_minutes") * 60

TIMEOUT: Final = 120
"""Timeout of the function in seconds. It allows for slow responses of AWS; a run usually takes a few seconds."""
_MEMORY_MIB = 256
_SILENT_MINUTES = 5


class BlockLifecycle(Construct):
    """A function that manages the compute environment, queues, jobs and notifications of one Capacity Block.

    It runs every minute and at EC2 events about the block, and reads the times of the block from EC2, so that an extension
    needs no deployment. Before the start the compute environment is disabled and jobs wait in the queue; at the start it
    is enabled. 7 days, 24 hours and 2 hours before the end it sends a notice with the price of an extension. Before the
    drain, running jobs are notified to write a checkpoint. 40 minutes before the end (UltraServers: 70 minutes) it
    disables the environment and terminates the jobs on the nodes of the block. After the end it sends a report of used and
    idle node-hours. It cannot buy capacity.

    When a deployment names another reservation, jobs that still run in the former block are notified and terminated before its
    end as well.

    Where an Auto Scaling group starts the nodes, its desired capacity is that of the block while it is open, and 0 otherwise.

    Nodes that report hardware faults are named in a notice with the command that replaces them, or are replaced.

    Nodes that refuse to join the cluster are reported with their reason; several in a row close the environment, or in an hour
    keep the Auto Scaling group from replacing more, so that a bad image does not launch nodes in a loop. Only one invocation runs at a time: it holds a lease in a DynamoDB table.
    """

    block: CapacityBlock
    """Capacity Block."""
    function: ScheduledFunction
    """Function that manages the block."""
    topic: sns.ITopic
    """Topic of the notices."""

    @validate_arguments
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        block: CapacityBlock,
        queue: TrainingQueue,
        fleet: NodeFleet | None = None,
        checkpoint_lead: Duration | None = None,
        max_refusals: int = 3,
        metrics: NodeMetrics | None = None,
        sick_nodes: SickNodes = "tell",
        topic: sns.ITopic | None = None,
        kms_key: kms.IKey | None = None,
    ) -> None:
        """Define the function, its schedules and its topic.

        Args:
            block: Capacity Block. Its start and end are not needed here; the function reads them from EC2.
            queue: Queue with the compute environment that launches into the block. It is disabled with the environment,
                unless another of its environments can still run jobs.
            fleet: Auto Scaling group that starts the nodes of the block. Default: AWS Batch starts them.
            checkpoint_lead: How long before the drain running jobs are notified to write a checkpoint, 0 to 12 hours.
                Default: 20 minutes.
            max_refusals: Number of nodes that refuse to join one after another before the compute environment is closed,
                1 to 100. It must be enabled again manually. With a fleet: that refuse within an hour before it replaces no
                more. Default: 3.
            metrics: Metrics of the nodes, from which hardware faults are read. Default: faults are not read.
            sick_nodes: ``tell``: a notice names the faults of a node and the command that replaces it. ``replace``: no further job
                starts on it, and it is terminated, at most two in an hour, so that another one comes in the block: after a
                checkpoint of jobs that are submitted again, and after the end of others. Default: ``tell``.
            topic: SNS topic for notices. Default: a new one without subscriptions.
            kms_key: KMS key for the log group, the state and a new topic; its policy must allow CloudWatch and CloudWatch
                Logs to use it. Default: AWS owned keys, and none for the topic.

        Raises:
            FindingsError: If the queue does not launch into this block (UC4116), the lead is too long (UC4117), the number
                of refusals is out of bounds (UC4129), or sick nodes are to be replaced without metrics (UC4186).
        """
        lead = checkpoint_lead.to_seconds() if checkpoint_lead else _DEFAULT_LEAD
        findings = check_lifecycle(checkpoint_lead, max_refusals)
        findings += check_sick_nodes(sick_nodes, has_block=True, has_metrics=metrics is not None)
        environment = _environment_of(block, queue, findings)
        super().__init__(scope, construct_id)
        self._metrics = metrics
        self._replaces = sick_nodes == "replace"
        self._environment = environment
        self.block = block
        self._queue = queue
        self._fleet = fleet
        self._additional_queues: list[str] = []
        self._kms_key = kms_key
        self.topic = topic or sns.Topic(self, "Notices", master_key=kms_key, enforce_ssl=True)
        self._state = StateTable(self, kms_key=kms_key)
        self.function = self._define_function(lead, max_refusals)
        self.node.default_child = self.function.node.default_child
        self._add_rules()
        self.function.alarm_on_errors(
            "Alarm",
            description=f"The Capacity Block {block.reservation_id} is not managed: its function failed or did not run "
            f"for {_SILENT_MINUTES} minutes",
            minutes=_SILENT_MINUTES,
            treat_missing_data="breaching",
            topic=self.topic,
        )

    def _define_function(self, lead: float, max_refusals: int) -> ScheduledFunction:
        return ScheduledFunction(
            self,
            description="Looks after one Capacity Block",
            role_description="Opens, drains and reports one Capacity Block; cannot buy",
            policy_name="Lifecycle",
            statements=self._statements(),
            handler="ultracluster_runtime.lifecycle.handler.handler",
            environment={
                **({"UC_METRICS_LOG_GROUP": self._metrics.log_group.log_group_name} if self._metrics else {}),
                **({"UC_SICK_NODES": "replace"} if self._replaces else {}),
                "UC_RESERVATION_ID": self.block.reservation_id,
                "UC_COMPUTE_ENVIRONMENT": self._environment.arn,
                "UC_JOB_QUEUE": self._queue.job_queue_arn,
                "UC_TOPIC": self.topic.topic_arn,
                "UC_STATE_TABLE": self._state.table_name,
                "UC_CHECKPOINT_LEAD_SECONDS": str(lead),
                "UC_MAX_REFUSALS": str(max_refusals),
                **({"UC_AUTO_SCALING_GROUP": self._fleet.auto_scaling_group_name} if self._fleet else {}),
            },
            timeout=Duration.seconds(TIMEOUT),
            memory_size=_MEMORY_MIB,
            retries=False,
            kms_key=self._kms_key,
        )

    def _statements(self) -> list[iam.PolicyStatement]:
        partition, region = Aws.PARTITION, Aws.REGION
        scope = f"{region}:{Aws.ACCOUNT_ID}"
        return [
            allow("Look", _LOOK, ["*"]),
            # AWS Batch generates the name of the ECS cluster of a compute environment when it creates it.
            allow(
                "FindNodesOfJobs",
                ["ecs:DescribeContainerInstances"],
                [f"arn:{partition}:ecs:{scope}:container-instance/*/*"],
            ),
            allow("OpenAndCloseEnvironment", ["batch:UpdateComputeEnvironment"], [self._environment.arn]),
            allow("OpenAndCloseQueue", ["batch:UpdateJobQueue"], [self._queue.job_queue_arn]),
            # Job IDs are unknown before submission, and IAM knows only their tags (Service Authorization Reference, read 2026-11,
            # https://docs.aws.amazon.com/service-authorization/latest/reference/list_awsbatch.html). Most jobs have none.
            allow(
                "EndJobs",
                ["batch:TerminateJob"],
                [f"arn:{partition}:batch:{scope}:job/*"],
                {
                    "StringEqualsIfExists": {
                        f"aws:ResourceTag/{CLUSTER_TAG}": self._environment.nodes.cluster_name
                    }
                },
            ),
            allow(
                "RunShellScript",
                ["ssm:SendCommand"],
                [f"arn:{partition}:ssm:{region}::document/AWS-RunShellScript"],
            ),
            allow(
                "OnNodesOfTheBlock",
                ["ssm:SendCommand"],
                [f"arn:{partition}:ec2:{scope}:instance/*"],
                {"StringEquals": {f"ssm:resourceTag/{RESERVATION_TAG}": self.block.reservation_id}},
            ),
            # Jobs go on in the former block when a deployment names another one.
            allow(
                "OnNodesOfFormerBlocks",
                ["ssm:SendCommand"],
                [f"arn:{partition}:ec2:{scope}:instance/*"],
                {
                    "StringEquals": {f"ssm:resourceTag/{CLUSTER_TAG}": self._environment.nodes.cluster_name},
                    "StringLike": {f"ssm:resourceTag/{RESERVATION_TAG}": "cr-*"},
                },
            ),
            allow(
                "ReadReasonsOfNodes",
                ["ec2:GetConsoleOutput"],
                [f"arn:{partition}:ec2:{scope}:instance/*"],
                {"StringEquals": {f"aws:ResourceTag/{RESERVATION_TAG}": self.block.reservation_id}},
            ),
            *(self._fleet.size_statements() if self._fleet else ()),
            *self._fault_statements(),
            *(self._replacement_statements(scope) if self._replaces else ()),
            *self._state.statements("dynamodb:Scan", "dynamodb:UpdateItem"),
            *publish_statements("Notify", self.topic, self.topic.master_key),
        ]

    def _fault_statements(self) -> list[iam.PolicyStatement]:
        if self._metrics is None:
            return []
        group = self._metrics.log_group
        return [allow("ReadFaultsOfNodes", ["logs:FilterLogEvents"], [group.log_group_arn])]

    def _replacement_statements(self, scope: str) -> list[iam.PolicyStatement]:
        """Return the permissions to drain nodes of the environment, and to terminate nodes of this cluster in this block."""
        nodes = self._environment.nodes
        hosts = [f"arn:{Aws.PARTITION}:ecs:{scope}:container-instance/*"]
        cluster = (
            nodes.joins.ecs_cluster_arn if nodes.joins else cluster_of_environment(self._environment.arn)
        )
        own = {CLUSTER_TAG: nodes.cluster_name, RESERVATION_TAG: self.block.reservation_id}
        return [
            allow("ReadDefinitions", ["batch:DescribeJobDefinitions"], ["*"]),
            allow("FindNodesToDrain", ["ecs:ListContainerInstances"], [cluster]),
            allow(
                "DrainNodes",
                ["ecs:UpdateContainerInstancesState"],
                hosts,
                {"ArnLike": {"ecs:cluster": cluster}},
            ),
            allow(
                "ReplaceNodes",
                ["ec2:TerminateInstances"],
                [f"arn:{Aws.PARTITION}:ec2:{scope}:instance/*"],
                {"StringEquals": {f"aws:ResourceTag/{key}": value for key, value in own.items()}},
            ),
        ]

    def _add_rules(self) -> None:
        self.function.add_rule("EveryMinute", description="Runs the lifecycle function of a Capacity Block")
        # Events are delivered on a best-effort basis; they only make the function react before the next minute.
        self.function.add_rule(
            "BlockEvents",
            description="EC2's events about a Capacity Block, under both names that AWS documents",
            event_pattern={
                "source": ["aws.ec2"],
                "detail-type": [*BLOCK_DELIVERED_EVENTS, *BLOCK_EXPIRATION_WARNING_EVENTS],
                "detail": {"capacity-reservation-id": [self.block.reservation_id]},
            },
        )

    def metric_errors(self, **options: Unpack[MetricOptions]) -> cloudwatch.Metric:
        """Return the invocations of the function that failed: their sum, unless `**options` of `MetricOptions` say otherwise."""
        return self.function.metric_errors(**options)

    @validate_arguments
    def track_queue(self, queue: TrainingQueue) -> None:
        """Also manage the jobs of another queue that uses the compute environment of the block.

        Its jobs are notified and terminated as those of the first queue. The queue itself stays enabled: jobs submitted
        after the drain wait for other capacity.

        Args:
            queue: Queue to add.
        """
        self._additional_queues.append(queue.job_queue_arn)
        self.function.add_environment("UC_ADDITIONAL_JOB_QUEUES", ",".join(self._additional_queues))


def check_lifecycle(lead: Duration | None, max_refusals: int) -> list[Finding]:
    """Check the settings of a life cycle."""
    minutes = 0 if lead is None else lead.to_minutes(integral=False)
    return [
        *MAX_REFUSALS.check(max_refusals, path="max_refusals"),
        *CHECKPOINT_LEAD_MINUTES.check(minutes, path="checkpoint_lead"),
    ]


def _environment_of(
    block: CapacityBlock, queue: TrainingQueue, findings: list[Finding]
) -> ComputeEnvironment:
    """Return the environment that launches into a block, or raise the findings, among them that there is none."""
    match = next(
        (environment for environment in queue.environments if environment.nodes.capacity == block), None
    )
    if match is None:
        reservations = [
            environment.nodes.capacity.reservation_id
            for environment in queue.environments
            if isinstance(environment.nodes.capacity, (CapacityBlock, CapacityReservation))
        ]
        targets = ", ".join(map(quote, reservations)) or "no reservation"
        findings.append(
            Finding(
                "UC4116",
                f"the nodes of the queue are launched into {targets}, the block is {quote(block.reservation_id)}",
                remedy="Use a queue whose nodes have this block as their capacity",
                path="queue",
            )
        )
    if findings or match is None:
        raise FindingsError(findings)
    return match
