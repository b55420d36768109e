"""AWS Batch: the queue in front of the compute environments."""

from collections.abc import Sequence

from aws_cdk import aws_batch as batch
from aws_cdk import aws_events as events
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from constructs import Construct

from ultracluster._foundation.log_group import RetainedLogGroup
from ultracluster.capacity.sources import check_names, named, used_by_queue
from ultracluster.nodes.node_group import NodeGroup
from ultracluster.scheduling.compute_environment import ComputeEnvironment, define_compute_environment
from ultracluster.scheduling.fair_share import FairShare
from ultracluster.scheduling.wait_limits import WaitLimits
from ultracluster_catalog.limits.queues import MOST_ENVIRONMENTS, MOST_NODES, MOST_PRIORITY
from ultracluster_rules.findings import Finding, FindingsError, quote
from ultracluster_rules.numbers import rejects_unsafe_numbers

__all__ = ["TrainingQueue"]


class TrainingQueue(Construct):
    """A job queue over one to three compute environments, tried in their order.

    Jobs start in the order in which they were submitted, unless `fair_share` divides the nodes. A job then names a share
    identifier when it is submitted; identifiers that are not known weigh the same. Unless
    `wait_limits` say so, no time limit acts on waiting jobs: it would cancel those that wait for a Capacity Block to
    start.

    A job of one node goes to the first compute environment that has room. A multi-node job does not: while EC2 has no
    instances for the first environment that is open and large enough, it waits there, and those after it stay unused
    (AWS Batch User Guide, jobs stuck in RUNNABLE, read 2026-11). What closes the first environment, such as
    `BlockLifecycle` before the start and after the end of a block, lets it go on to the next.
    """

    @rejects_unsafe_numbers
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        nodes: NodeGroup | Sequence[NodeGroup] = (),
        max_nodes: int | None = None,
        sources: Sequence[str | None] | None = None,
        environments: Sequence[ComputeEnvironment] = (),
        priority: int = 1,
        fair_share: FairShare | None = None,
        wait_limits: WaitLimits | None = None,
        log_group: logs.ILogGroup | None = None,
        log_retention: logs.RetentionDays = logs.RetentionDays.THREE_MONTHS,
        kms_key: kms.IKey | None = None,
    ) -> None:
        """Define the queue.

        Args:
            scope: Where to add it.
            construct_id: Its id there.
            nodes: Nodes that it gets new compute environments for, one for each, in order of preference. Default:
                none.
            max_nodes: Most nodes of each of these at one time, 1 to 1000, unless its source of capacity has a
                `max_nodes` of its own. Decides maxvCpus exactly: AWS Batch's usual 256 would be one trn2.48xlarge, and
                a job of two would wait for ever. Required with nodes.
            sources: Names of the sources of capacity that it uses of these nodes, in order of preference; None is the
                source without a name. The compute environments of the others are for other queues. Default: all of
                them.
            environments: Compute environments of another queue to use too, tried after its own. Default: none.
            priority: Whose jobs are placed first where queues have compute environments in common: those of the
                queue with the higher number, 0 to 1000. Default: 1.
            fair_share: How the nodes are divided among share identifiers. AWS Batch can neither add it to a queue nor
                remove it later. Default: no shares; first in, first out.
            wait_limits: When a job that waits at the head is cancelled. Default: never.
            log_group: Log group of the jobs. Default: a new one.
            log_retention: How long job logs are kept in a new log group. Default: three months.
            kms_key: Key of your own for a new log group; its policy must let CloudWatch Logs use it. Default: the keys of
                CloudWatch Logs.

        Raises:
            FindingsError: If a number of nodes is outside 1 to 1000 (UC4101), there are not one to three compute
                environments (UC4120), two sources have the same name (UC4121), the nodes differ (UC4122), a
                source is unknown (UC6312), the priority is out of bounds (UC6305), or a limit would cancel jobs that wait for reserved capacity
                (UC6307).
        """
        groups = [nodes] if isinstance(nodes, NodeGroup) else list(nodes)
        used = _used(groups, sources)
        behind = [*used, *(each.nodes for each in environments)]
        _check(groups, behind, max_nodes=max_nodes, priority=priority, wait_limits=wait_limits)
        super().__init__(scope, construct_id)
        self._log_group = log_group or RetainedLogGroup(self, retention=log_retention, kms_key=kms_key)
        self._own_environments = tuple(
            define_compute_environment(
                self,
                named("ComputeEnvironment", each.capacity),
                nodes=each,
                max_nodes=_most_nodes(each, max_nodes),
            )
            for each in groups
        )
        own = {each.nodes: each for each in self._own_environments}
        self._environments = (*(own[each] for each in used), *environments)
        # With a policy AWS Batch refuses jobs without a share and a priority (nextflow#3505), so none without need.
        policy = (
            batch.CfnSchedulingPolicy(self, "SchedulingPolicy", fairshare_policy=fair_share.policy)
            if fair_share
            else None
        )
        self._has_shares = policy is not None
        queue = batch.CfnJobQueue(
            self,
            "Resource",
            priority=priority,
            job_queue_type="ECS",
            scheduling_policy_arn=policy.attr_arn if policy else None,
            compute_environment_order=[
                batch.CfnJobQueue.ComputeEnvironmentOrderProperty(
                    compute_environment=environment.arn, order=order
                )
                for order, environment in enumerate(self._environments, start=1)
            ],
            job_state_time_limit_actions=wait_limits.actions if wait_limits else None,
        )
        self._job_queue_arn = queue.attr_job_queue_arn

    def on_blocked(self, construct_id: str, target: events.IRuleTarget) -> events.Rule:
        """Tell somebody when the job at the head of the queue holds up all others, and why.

        AWS Batch sends this event when it has found a reason, such as no instances for any compute environment. A job
        that waits for a Capacity Block to start is no such reason while the environment is closed.

        Args:
            construct_id: Id of the rule in the queue.
            target: What gets the event, such as `aws_events_targets.SnsTopic`.
        """
        return events.Rule(
            self,
            construct_id,
            description="AWS Batch: the job at the head holds up the queue",
            event_pattern=events.EventPattern(
                source=["aws.batch"],
                detail_type=["Batch Job Queue Blocked"],
                detail={"jobQueue": [self._job_queue_arn]},
            ),
            targets=[target],
        )

    @property
    def compute_environment_arn(self) -> str:
        """ARN of the first compute environment."""
        return self._environments[0].arn

    @property
    def environments(self) -> tuple[ComputeEnvironment, ...]:
        """Compute environments, in the order in which they are tried."""
        return self._environments

    @property
    def own_environments(self) -> tuple[ComputeEnvironment, ...]:
        """Compute environments that were defined with it, also those that only other queues use."""
        return self._own_environments

    @property
    def has_shares(self) -> bool:
        """Whether nodes are divided among share identifiers, so that each job needs one and a scheduling priority."""
        return self._has_shares

    @property
    def has_spot(self) -> bool:
        """Whether a compute environment has Spot nodes, so that multi-node jobs are refused."""
        return any(each.is_spot for each in self._environments)

    @property
    def job_queue_arn(self) -> str:
        """ARN of the job queue."""
        return self._job_queue_arn

    @property
    def log_group(self) -> logs.ILogGroup:
        """Log group of the jobs."""
        return self._log_group

    @property
    def log_group_arn(self) -> str:
        """ARN of the log group of the jobs."""
        return self._log_group.log_group_arn

    @property
    def log_group_name(self) -> str:
        """Name of the log group of the jobs."""
        return self._log_group.log_group_name

    @property
    def max_nodes(self) -> int:
        """Most nodes of one job: those of the largest compute environment, because a job never spans two."""
        return max(each.max_nodes for each in self._environments)

    @property
    def nodes(self) -> NodeGroup:
        """Nodes of the first compute environment; those of the others are alike."""
        return self._environments[0].nodes


def _used(groups: Sequence[NodeGroup], sources: Sequence[str | None] | None) -> list[NodeGroup]:
    if sources is None:
        return list(groups)
    used = used_by_queue([each.capacity for each in groups], sources, path="sources")
    return [each for source in used for each in groups if each.capacity is source]


def _most_nodes(nodes: NodeGroup, max_nodes: int | None) -> int:
    own = nodes.capacity.max_nodes if nodes.capacity else None
    return own or max_nodes or 0


def _check(
    groups: Sequence[NodeGroup],
    behind: Sequence[NodeGroup],
    *,
    max_nodes: int | None,
    priority: int,
    wait_limits: WaitLimits | None,
) -> None:
    findings = [
        *_check_nodes(groups, max_nodes),
        *_check_environments(groups, behind),
        *(wait_limits.check([each.capacity for each in behind]) if wait_limits else ()),
    ]
    if not 0 <= priority <= MOST_PRIORITY:
        findings.append(
            Finding(
                code="UC6305",
                problem=f"got {quote(priority)}",
                allowed=f"0 to {MOST_PRIORITY:,}",
                path="priority",
            )
        )
    if findings:
        raise FindingsError(findings)


def _check_nodes(groups: Sequence[NodeGroup], max_nodes: int | None) -> list[Finding]:
    given = [max_nodes] if max_nodes is not None else [_most_nodes(each, None) for each in groups]
    return [
        Finding(
            code="UC4101",
            problem=f"got {quote(each)}" if each else "nothing says how many nodes there are at most",
            allowed=f"1 to {MOST_NODES}",
            path="max_nodes",
        )
        for each in dict.fromkeys(given)
        if not 1 <= each <= MOST_NODES
    ]


def _check_environments(groups: Sequence[NodeGroup], behind: Sequence[NodeGroup]) -> list[Finding]:
    findings = []
    if not 1 <= len(behind) <= MOST_ENVIRONMENTS:
        findings.append(
            Finding(
                code="UC4120",
                problem=f"got {len(behind)} compute environments",
                allowed=f"1 to {MOST_ENVIRONMENTS}",
                remedy="Put the other sources behind a queue of their own",
                path="nodes",
            )
        )
    names = [each.capacity.name if each.capacity else None for each in groups]
    findings += check_names(names, path="nodes")
    kinds = {(each.instance_type.name, each.efa_devices, each.file_system) for each in behind}
    if len(kinds) > 1:
        findings.append(
            Finding(
                code="UC4122",
                problem="the nodes differ in their type, their EFA devices or their file system, and a job is defined "
                "for one kind of node",
                remedy="Give each kind a queue of its own",
                path="nodes",
            )
        )
    return findings
