"""What jobs need of a job queue, whether this app or another one creates it: its nodes, grants and metrics."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Unpack

import jsii
from aws_cdk import ArnFormat, Aws, Resource, Stack
from aws_cdk import aws_batch as batch
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_events as events
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from aws_cdk.interfaces import aws_batch as references
from constructs import Construct

from ultracluster._foundation.metric_options import MetricOptions
from ultracluster._foundation.permissions import grant
from ultracluster.nodes.node_group import NodeGroup
from ultracluster.storage.shared_file_system import MountedFileSystem
from ultracluster_catalog.machines.instance_type import InstanceType
from ultracluster_catalog.machines.nic_layouts import NetworkInterface
from ultracluster_spec.arguments import validate_arguments
from ultracluster_spec.capacity import LaunchedBy
from ultracluster_spec.findings import FindingsError, quote

# None of them can be limited to a queue (Service Authorization Reference of AWS Batch, read 2026-11).
_DESCRIBE = [
    "batch:DescribeComputeEnvironments",
    "batch:DescribeJobDefinitions",
    "batch:DescribeJobQueues",
    "batch:DescribeJobs",
    "batch:ListJobs",
]


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportedNodes:
    """Nodes of an imported queue, as far as jobs depend on them; see `NodeGroup`."""

    instance_type: InstanceType
    network_interfaces: tuple[NetworkInterface, ...]
    file_system: MountedFileSystem | None
    scratch_path: str | None

    @property
    def efa_devices(self) -> tuple[str, ...]:
        """Paths of the EFA devices of every node."""
        return self.instance_type.efa_devices[
            : sum(interface.has_efa for interface in self.network_interfaces)
        ]


@jsii.implements(batch.IJobQueue)
class ITrainingQueue(Resource):
    """A job queue, created by `TrainingQueue` or imported by one of its ``from_`` methods.

    Every job takes either, and it is a `batch.IJobQueue` of the CDK. It is a base class, because jsii interfaces cannot be
    declared in Python.
    """

    has_shares: bool
    """Whether nodes are divided among share identifiers, so that each job needs one and a scheduling priority."""
    has_spot: bool
    """Whether AWS Batch launches Spot nodes for the queue, on which multi-node jobs cannot run."""
    launched_by: tuple[LaunchedBy, ...]
    """What starts the nodes of each compute environment, in order: ``batch`` or ``auto-scaling``."""
    max_nodes: int
    """Maximum number of nodes of a job, that of the largest compute environment; a job never spans two."""

    _arn: str
    _nodes: NodeGroup | ImportedNodes | None
    _log_group: logs.ILogGroup | None

    def __init__(self, scope: Construct, construct_id: str, *, arn: str | None = None) -> None:
        """Define the construct, in the account and Region of an ARN; its subclasses set what they know of the queue."""
        super().__init__(scope, construct_id, environment_from_arn=arn)
        self._job_definitions: list[str] = []
        self._submit_statements: list[iam.PolicyStatement] = []
        self._resumable: list[str] = []
        self._allow_resume: Callable[[str], None] | None = None

    def resume_with(self, allow: Callable[[str], None]) -> None:
        """Let a function submit interrupted jobs of the queue again; `JobResume` and clusters call this.

        Args:
            allow: Called with the ARN of each job definition with `resume`, now or later.
        """
        self._allow_resume = allow
        for job_definition_arn in self._resumable:
            allow(job_definition_arn)

    def add_resumable(self, job_definition_arn: str) -> None:
        """Have interrupted jobs of a definition submitted again; jobs with `resume` call this.

        Args:
            job_definition_arn: ARN of the job definition, with its revision.
        """
        self._resumable.append(job_definition_arn)
        if self._allow_resume:
            self._allow_resume(job_definition_arn)

    @property
    def resumes(self) -> bool:
        """Whether a function submits interrupted jobs of the queue again."""
        return self._allow_resume is not None

    def add_job_definition(self, job_definition_arn: str) -> None:
        """Let the grantees of `grant_submit` submit jobs of a definition; jobs in the stack of the queue call this.

        Args:
            job_definition_arn: ARN of the job definition, with its revision.
        """
        self._job_definitions.append(job_definition_arn)
        for statement in self._submit_statements:
            statement.add_resources(job_definition_arn)

    @validate_arguments
    def grant_submit(self, grantee: iam.IGrantable) -> iam.Grant:
        """Grant permission to submit the jobs that are defined for the queue in its stack, now or later.

        For a job of another stack or app, use `grant_submit` of the job.

        Args:
            grantee: Principal to grant permissions to.
        """
        granted = grant_submit(grantee, self.job_queue_arn, self._job_definitions)
        self._submit_statements += [
            statement
            for statement in granted.principal_statements
            if statement.actions == ["batch:SubmitJob"]
        ]
        return granted

    @validate_arguments
    def grant_read(self, grantee: iam.IGrantable) -> iam.Grant:
        """Grant permission to list and describe jobs and to read their logs, as `ultracluster jobs` does.

        AWS Batch cannot limit its list and describe actions to a queue.

        Args:
            grantee: Principal to grant permissions to.
        """
        granted = (
            grant(grantee, _DESCRIBE, ["*"])
            .combine(grant(grantee, ["batch:GetJobQueueSnapshot"], [self.job_queue_arn]))
            .combine(grant(grantee, ["cloudformation:ListStackResources"], [Stack.of(self).stack_id]))
        )
        if self._log_group is None:
            return granted
        log_actions = ["logs:FilterLogEvents", "logs:GetLogEvents"]
        return granted.combine(grant(grantee, log_actions, [self._log_group.log_group_arn]))

    @validate_arguments
    def metric(self, metric_name: str, **options: Unpack[MetricOptions]) -> cloudwatch.Metric:
        """Return a metric that AWS Batch publishes for the queue, without charge and on a best-effort basis.

        A multi-node job counts once, an array once for each child (AWS Batch User Guide, Using CloudWatch Metrics,
        read 2026-11).

        Args:
            metric_name: Name in the namespace ``AWS/Batch``, such as ``JobsRetried``.
            **options: Arguments of `MetricOptions`, such as ``period``.
        """
        statistic = "Average" if metric_name.endswith("Duration") else "Sum"
        return cloudwatch.Metric(
            namespace="AWS/Batch",
            metric_name=metric_name,
            dimensions_map={"JobQueueName": self.job_queue_name},
            **MetricOptions(statistic=statistic) | options,
        )

    def metric_jobs_submitted(self, **options: Unpack[MetricOptions]) -> cloudwatch.Metric:
        """Return the number of submitted jobs; `**options` as for `metric`."""
        return self.metric("JobsSubmitted", **options)

    def metric_jobs_moved_to_running(self, **options: Unpack[MetricOptions]) -> cloudwatch.Metric:
        """Return the number of jobs that began to run; `**options` as for `metric`."""
        return self.metric("JobsMovedToRunning", **options)

    def metric_jobs_moved_to_succeeded(self, **options: Unpack[MetricOptions]) -> cloudwatch.Metric:
        """Return the number of jobs that succeeded; `**options` as for `metric`."""
        return self.metric("JobsMovedToSucceeded", **options)

    def metric_jobs_moved_to_failed(self, **options: Unpack[MetricOptions]) -> cloudwatch.Metric:
        """Return the number of jobs that failed, cancelled and terminated ones included; `**options` as for `metric`."""
        return self.metric("JobsMovedToFailed", **options)

    def metric_job_attempt_runnable_to_starting_duration(
        self, **options: Unpack[MetricOptions]
    ) -> cloudwatch.Metric:
        """Return the milliseconds that an attempt waited for nodes; `**options` as for `metric`."""
        return self.metric("JobAttemptRunnableToStartingDuration", **options)

    @validate_arguments
    def on_blocked(self, construct_id: str, target: events.IRuleTarget) -> events.Rule:
        """Create a rule for the event that the job at the head of the queue blocks all others.

        AWS Batch sends it with the reason, such as no instances for any compute environment. A job that waits for a
        Capacity Block to start is not reported while the compute environment is disabled.

        Args:
            construct_id: ID of the rule in the queue.
            target: Target of the event, such as `aws_events_targets.SnsTopic`.
        """
        return events.Rule(
            self,
            construct_id,
            description="AWS Batch: the job at the head holds up the queue",
            event_pattern=events.EventPattern(
                source=["aws.batch"],
                detail_type=["Batch Job Queue Blocked"],
                detail={"jobQueue": [self.job_queue_arn]},
            ),
            targets=[target],
        )

    @property
    def is_imported(self) -> bool:
        """Whether another app creates the queue."""
        return False

    @property
    def is_managed(self) -> bool:
        """Whether AWS Batch starts the nodes of its first source."""
        return self.launched_by[0] == "batch"

    @property
    def job_queue_arn(self) -> str:
        """ARN of the job queue."""
        return self._arn

    @property
    def job_queue_ref(self) -> references.JobQueueReference:
        """Reference of the CDK to the job queue."""
        return references.JobQueueReference(job_queue_arn=self._arn)

    @property
    def compute_environments(self) -> list[batch.OrderedComputeEnvironment]:
        """None that are objects of the CDK, as of a queue that it imports; see `TrainingQueue.environments`."""
        return []

    @property
    def priority(self) -> int:
        """Priority among queues over the same nodes; 1 if it is not known."""
        return 1

    @property
    def enabled(self) -> bool:
        """Whether it takes jobs when it is created."""
        return True

    @property
    def scheduling_policy(self) -> batch.ISchedulingPolicy | None:
        """None: that of a queue with shares is no object of the CDK."""
        return None

    @validate_arguments
    def add_compute_environment(
        self, compute_environment: references.IComputeEnvironmentRef, order: float
    ) -> None:
        """Refuse a compute environment: those of a queue are made for its nodes.

        Args:
            compute_environment: Compute environment to add.
            order: Its place in the order.

        Raises:
            FindingsError: Always (UC6316).
        """
        name = getattr(compute_environment, "node", self.node).id
        problem = f"the compute environment {quote(name)} cannot be added as number {order:g}"
        remedy = "Pass nodes or environments to TrainingQueue"
        raise FindingsError.of("UC6316", problem, remedy=remedy, path="compute_environment")

    @property
    def job_queue_name(self) -> str:
        """Name of the job queue."""
        arn = Stack.of(self).split_arn(self.job_queue_arn, ArnFormat.SLASH_RESOURCE_NAME)
        return str(arn.resource_name)

    @property
    def log_group(self) -> logs.ILogGroup:
        """Log group of the jobs."""
        if self._log_group is None:
            raise self._unknown("log_group")
        return self._log_group

    @property
    def log_group_arn(self) -> str:
        """ARN of the log group of the jobs."""
        return self.log_group.log_group_arn

    @property
    def log_group_name(self) -> str:
        """Name of the log group of the jobs."""
        return self.log_group.log_group_name

    @property
    def nodes(self) -> NodeGroup | ImportedNodes:
        """Nodes of the first compute environment; those of the others are equivalent."""
        if self._nodes is None:
            raise self._unknown("nodes")
        return self._nodes

    def _unknown(self, attribute: str) -> FindingsError:
        return FindingsError.of(
            "UC6316",
            f"a queue that was imported by its ARN does not know its {attribute}",
            remedy="Import it with TrainingQueue.from_training_queue_attributes to define jobs for it",
            path=attribute,
            location=self.node.path,
        )


def grant_submit(grantee: iam.IGrantable, job_queue_arn: str, job_definitions: Sequence[str]) -> iam.Grant:
    """Grant permission to submit jobs of definitions to a queue, and to tag the jobs, as `ultracluster jobs submit` does."""
    # Job IDs are unknown before submission.
    jobs = f"arn:{Aws.PARTITION}:batch:{Aws.REGION}:{Aws.ACCOUNT_ID}:job/*"
    return grant(grantee, ["batch:SubmitJob"], [job_queue_arn, *job_definitions]).combine(
        grant(grantee, ["batch:TagResource"], [jobs])
    )
