"""AWS Batch job queue over compute environments."""

from collections.abc import Sequence

from aws_cdk import aws_batch as batch
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from constructs import Construct

from ultracluster._foundation.instance_types import AnyInstanceType, instance_type_of
from ultracluster._foundation.log_group import RetainedLogGroup
from ultracluster._foundation.synthesis_check import check_at_synthesis
from ultracluster.capacity.sources import check_names, named, used_by_queue
from ultracluster.nodes.agent_policy import AgentPolicy
from ultracluster.nodes.node_group import NodeGroup
from ultracluster.scheduling.compute_environment import ComputeEnvironment, define_compute_environment
from ultracluster.scheduling.fair_share import fair_share_policy
from ultracluster.scheduling.i_training_queue import ImportedNodes, ITrainingQueue
from ultracluster.scheduling.wait_limits import check_limits, default_limits, limit_actions
from ultracluster.storage.shared_file_system import MountedFileSystem
from ultracluster_catalog.machines.nic_layouts import NicLayout
from ultracluster_spec.arguments import validate_arguments
from ultracluster_spec.capacity import Capacity, LaunchedBy, check_max_nodes
from ultracluster_spec.findings import Finding, reject, require
from ultracluster_spec.network import network_interfaces
from ultracluster_spec.queue import Queue, check_environment_count
from ultracluster_spec.values import broken_bounds, wrong_types


class TrainingQueue(ITrainingQueue):
    """A job queue over one to three compute environments, tried in order.

    Jobs start in the order of submission, unless shares divide the nodes. Jobs then specify a share identifier at
    submission; identifiers without a share have equal weight. A job that blocks the queue is cancelled after a day, unless the
    queue uses a Capacity Block, for which jobs may wait longer.

    A single-node job runs in the first compute environment with room. A multi-node job does not: while EC2 has no instances
    for the first enabled environment that is large enough, it waits there, and later environments stay unused
    (AWS Batch User Guide, jobs stuck in RUNNABLE, read 2026-11). Disabling the first environment, as `BlockLifecycle` does
    before the start and after the end of a block, lets the job move on.
    """

    environments: tuple[ComputeEnvironment, ...]
    """Compute environments, in the order in which AWS Batch tries them."""
    dedicated_environments: tuple[ComputeEnvironment, ...]
    """Compute environments created with this queue, including those that only other queues use."""

    @validate_arguments
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        nodes: NodeGroup | Sequence[NodeGroup] = (),
        max_nodes: int | None = None,
        environments: Sequence[ComputeEnvironment] = (),
        settings: Queue | None = None,
        log_group: logs.ILogGroup | None = None,
        log_retention: logs.RetentionDays = logs.RetentionDays.THREE_MONTHS,
        kms_key: kms.IKey | None = None,
    ) -> None:
        """Define the queue.

        Args:
            nodes: Nodes for which to create compute environments, one each, in order of preference. Default: none.
            max_nodes: Maximum number of nodes of each of these at one time, 1 to 1000, unless the capacity source has its
                own `max_nodes`. Determines maxvCpus exactly: with the usual default of 256, one trn2.48xlarge would fit,
                and a job on two would wait forever. Required with `nodes`.
            environments: Existing compute environments of another queue, tried after those of `nodes`. Default: none.
            settings: Priority, shares, limits, and which of the capacity sources of `nodes` and `environments` the queue uses;
                compute environments of the others are for other queues. AWS Batch can neither add shares to a queue nor
                remove them later. Default: those of `Queue`; all sources, first in, first out.
            log_group: Log group of the jobs. Default: a new one.
            log_retention: Retention of a new log group. Default: 3 months.
            kms_key: KMS key for a new log group; its policy must allow CloudWatch Logs to use it. Default: encryption by
                CloudWatch Logs.

        Raises:
            FindingsError: If a number of nodes is outside 1 to 1000 (UC4101), the number of compute environments is outside
                1 to 3 (UC4120), two sources share a name (UC4121), the nodes differ (UC4122), a source is unknown
                (UC6312), the priority is out of range (UC6305), or a limit would cancel jobs that wait for reserved
                capacity (UC6307).
        """
        groups = [nodes] if isinstance(nodes, NodeGroup) else list(nodes)
        settings = settings or Queue()
        reject(wrong_types(settings))
        existing = {environment.nodes: environment for environment in environments}
        used = _used([*groups, *(environment.nodes for environment in environments)], settings)
        behind = [group.capacity for group in used]
        _check(groups, used, max_nodes=max_nodes, settings=settings)
        super().__init__(scope, construct_id)
        check_at_synthesis(self)
        self._log_group = log_group or RetainedLogGroup(self, retention=log_retention, kms_key=kms_key)
        self.dedicated_environments = tuple(
            define_compute_environment(
                self,
                named("ComputeEnvironment", group.capacity),
                nodes=group,
                max_nodes=_most_nodes(group, max_nodes),
            )
            for group in groups
        )
        created = {environment.nodes: environment for environment in self.dedicated_environments}
        self.environments = tuple((existing | created)[group] for group in used)
        shares = fair_share_policy(settings)
        policy = (
            batch.CfnSchedulingPolicy(self, "SchedulingPolicy", fairshare_policy=shares) if shares else None
        )
        self.has_shares = policy is not None
        self._priority = settings.priority
        queue = batch.CfnJobQueue(
            self,
            "Resource",
            priority=settings.priority,
            job_queue_type="ECS",
            scheduling_policy_arn=policy.attr_arn if policy else None,
            compute_environment_order=[
                batch.CfnJobQueue.ComputeEnvironmentOrderProperty(
                    compute_environment=environment.arn, order=order
                )
                for order, environment in enumerate(self.environments, start=1)
            ],
            job_state_time_limit_actions=limit_actions(settings.wait_limits or default_limits(behind)),
        )
        for environment in self.dedicated_environments:
            if environment.is_managed:
                agent = AgentPolicy(
                    self,
                    named("AgentPolicy", environment.nodes.capacity),
                    role=environment.nodes.role,
                    compute_environment_arn=environment.arn,
                )
                # No job starts a node before the node may join.
                queue.node.add_dependency(agent)
        self._arn = queue.attr_job_queue_arn
        self._nodes = self.environments[0].nodes
        self.max_nodes = max(environment.max_nodes for environment in self.environments)
        self.has_spot = any(
            environment.is_spot and environment.is_managed for environment in self.environments
        )
        self.launched_by = tuple(
            "batch" if environment.is_managed else "auto-scaling" for environment in self.environments
        )

    @classmethod
    @validate_arguments
    def from_training_queue_arn(
        cls, scope: Construct, construct_id: str, training_queue_arn: str
    ) -> ITrainingQueue:
        """Import a queue of another app by its ARN, for grants, metrics and rules.

        Jobs need its nodes as well: `from_training_queue_attributes`.

        Args:
            training_queue_arn: ARN of the job queue.
        """
        return _ImportedQueue(scope, construct_id, job_queue_arn=training_queue_arn)

    @classmethod
    @validate_arguments
    def from_training_queue_attributes(
        cls,
        scope: Construct,
        construct_id: str,
        *,
        job_queue_arn: str,
        instance_type: AnyInstanceType,
        max_nodes: int,
        log_group: logs.ILogGroup,
        mount_path: str | None = "/fsx",
        scratch_path: str | None = None,
        nic_layout: NicLayout = "batch",
        has_shares: bool = False,
        has_spot: bool = False,
        launched_by: LaunchedBy = "batch",
    ) -> ITrainingQueue:
        """Import a queue of another app, to define jobs for it. Nothing is looked up, and the queue is not changed.

        The arguments describe the queue as its app defines it; a job that differs from them waits forever or fails.

        Args:
            job_queue_arn: ARN of the job queue.
            instance_type: Type of its nodes, such as ``trn2.48xlarge``, or a custom `InstanceType`.
            max_nodes: Maximum number of nodes of a job.
            log_group: Log group for the jobs, such as that of the queue by ``logs.LogGroup.from_log_group_name``.
            mount_path: Mount point of the shared file system of its nodes; None if they mount none. Default: ``/fsx``.
            scratch_path: Mount point of the instance store volumes. Default: they are not mounted.
            nic_layout: Network interface layout of its nodes. Default: ``batch``.
            has_shares: Whether the queue has shares, so that jobs need a scheduling priority. Default: False.
            has_spot: Whether AWS Batch launches Spot nodes for it, on which multi-node jobs cannot run. Default: False.
            launched_by: What starts its nodes, ``batch`` or ``auto-scaling``. Default: ``batch``.

        Raises:
            FindingsError: If the instance type or layout is unknown, or `max_nodes` is outside 1 to 1000 (UC4101).
        """
        node_type = instance_type_of(instance_type)
        interfaces = network_interfaces(node_type, nic_layout)
        reject(check_max_nodes(max_nodes, path="max_nodes"))
        return _ImportedQueue(
            scope,
            construct_id,
            job_queue_arn=job_queue_arn,
            log_group=log_group,
            max_nodes=max_nodes,
            has_shares=has_shares,
            has_spot=has_spot,
            launched_by=launched_by,
            nodes=ImportedNodes(
                instance_type=node_type,
                network_interfaces=interfaces,
                file_system=MountedFileSystem(mount_path=mount_path) if mount_path else None,
                scratch_path=scratch_path,
            ),
        )

    @property
    def priority(self) -> int:
        """Priority among queues over the same nodes."""
        return self._priority

    @property
    def compute_environment_arn(self) -> str:
        """ARN of the first compute environment."""
        return self.environments[0].arn

    @property
    def nodes(self) -> NodeGroup:
        """Nodes of the first compute environment; those of the others are equivalent."""
        return self.environments[0].nodes


class _ImportedQueue(ITrainingQueue):
    """Queue returned by the ``from_`` methods of `TrainingQueue`."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        job_queue_arn: str,
        log_group: logs.ILogGroup | None = None,
        max_nodes: int = 0,
        has_shares: bool = False,
        has_spot: bool = False,
        launched_by: LaunchedBy = "batch",
        nodes: ImportedNodes | None = None,
    ) -> None:
        super().__init__(scope, construct_id, arn=job_queue_arn)
        self._arn = job_queue_arn
        self._log_group = log_group
        self.max_nodes = max_nodes
        self.has_shares = has_shares
        self.has_spot = has_spot
        self.launched_by = (launched_by,)
        self._nodes = nodes

    @property
    def is_imported(self) -> bool:
        return True


def _used(groups: Sequence[NodeGroup], settings: Queue) -> list[NodeGroup]:
    if not settings.capacity:
        return list(groups)
    used = used_by_queue([group.capacity for group in groups], settings, path="capacity")
    return [group for source in used for group in groups if group.capacity is source]


def _most_nodes(nodes: NodeGroup, max_nodes: int | None) -> int:
    source_max = nodes.capacity.max_nodes if nodes.capacity else None
    return source_max or max_nodes or 0


def check_queue(settings: Queue, sources: Sequence[Capacity | None]) -> list[Finding]:
    """Return what is wrong with the settings of a queue, whose types are right, over capacity sources; None is On-Demand."""
    limits = settings.wait_limits
    return [*broken_bounds(settings), *(check_limits(limits, sources) if limits else ())]


def _check(
    groups: Sequence[NodeGroup],
    all_nodes: Sequence[NodeGroup],
    *,
    max_nodes: int | None,
    settings: Queue,
) -> None:
    limits = [max_nodes] if max_nodes is not None else [_most_nodes(group, None) or None for group in groups]
    reject(
        [
            *(
                finding
                for limit in dict.fromkeys(limits)
                for finding in check_max_nodes(limit, path="max_nodes")
            ),
            *_check_environments(groups, all_nodes),
            *check_queue(settings, [group.capacity for group in all_nodes]),
        ]
    )


def _check_environments(groups: Sequence[NodeGroup], all_nodes: Sequence[NodeGroup]) -> list[Finding]:
    findings = check_environment_count(len(all_nodes), path="nodes")
    names = [group.capacity.name if group.capacity else None for group in groups]
    findings += check_names(names, path="nodes")
    kinds = {(group.instance_type.name, group.efa_devices, group.file_system) for group in all_nodes}
    findings += require(
        len(kinds) <= 1,
        "UC4122",
        "the nodes differ in their type, their EFA devices or their file system, and a job is defined "
        "for one kind of node",
        remedy="Use one queue for each kind of node",
        path="nodes",
    )
    return findings
