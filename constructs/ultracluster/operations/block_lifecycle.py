"""The life cycle of a Capacity Block in a cluster: opened at its start, drained before its end, reported afterwards."""

from aws_cdk import Aws, Duration
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sns as sns
from aws_cdk import aws_ssm as ssm
from constructs import Construct

from ultracluster._foundation.function_code import MACHINE_MODULES, function_code
from ultracluster._foundation.log_group import KeptLogGroup
from ultracluster._foundation.private_topic import PrivateTopic, l2_topic
from ultracluster._foundation.scheduled_function import SmallFunction, tell
from ultracluster._foundation.statement import Statement
from ultracluster.capacity.capacity import RESERVATION_TAG, CapacityBlock, CapacityReservation
from ultracluster.scheduling.compute_environment import ComputeEnvironment
from ultracluster.scheduling.training_queue import TrainingQueue
from ultracluster_catalog.capacity.capacity_blocks import (
    BLOCK_DELIVERED_EVENTS,
    BLOCK_EXPIRATION_WARNING_EVENTS,
)
from ultracluster_rules.findings import Finding, FindingsError, quote

__all__ = ["BlockLifecycle"]

# What the function runs, and nothing else.
_MODULES = (
    "ultracluster_catalog/limits/budgets.py",
    "ultracluster_catalog/capacity/capacity_blocks.py",
    *MACHINE_MODULES,
    "ultracluster_runtime/lifecycle/actions.py",
    "ultracluster_runtime/lifecycle/driver.py",
    "ultracluster_runtime/lifecycle/observations.py",
    "ultracluster_runtime/lifecycle/handler.py",
    "ultracluster_runtime/lifecycle/machine.py",
    "ultracluster_runtime/lifecycle/state.py",
    "ultracluster_runtime/lifecycle/reader.py",
    "ultracluster_runtime/functions/window.py",
)

# None of these can be narrowed to a resource.
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

_DEFAULT_LEAD = 20 * 60
_LONGEST_LEAD_HOURS = 12

# Two minutes for a wake-up that finds AWS slow; usually it needs a few seconds.
_TIMEOUT = 120
_MEMORY_MIB = 256
_SILENT_MINUTES = 5


class BlockLifecycle(Construct):
    """Looks after one Capacity Block: its compute environment, its queues, its jobs and the people who paid for it.

    A small function wakes up every minute, and at EC2's events about the block; it reads the block's times from EC2,
    so that an extension needs no deployment. Before the start jobs wait in the queue while the compute environment
    is closed; at the start it is opened; a week, 24 and 2 hours before the end people are told, with the price of an
    extension; before the drain running jobs are told to write a checkpoint; 40 minutes before the end (UltraServers
    70) the environment is closed and the jobs on the block's nodes are ended; after the end a report of used and
    idle node-hours is sent. It cannot buy anything.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        block: CapacityBlock,
        queue: TrainingQueue,
        checkpoint_lead: Duration | None = None,
        topic: sns.ITopic | None = None,
        kms_key: kms.IKey | None = None,
    ) -> None:
        """Define what looks after the block.

        Args:
            scope: Where to add it.
            construct_id: Its id there.
            block: The block. Its start and end are not needed here; EC2 knows them.
            queue: Queue with the compute environment that launches into the block. It is closed with the
                environment, unless another one of its environments can still run jobs.
            checkpoint_lead: How long before the drain running jobs are told to write a checkpoint, 0 to 12 hours.
                Default: 20 minutes.
            topic: SNS topic for notices. Default: a new one; subscribe somebody to it.
            kms_key: Key of your own for the log and a new topic; its policy must let CloudWatch and its Logs use it.
                Default: the keys of CloudWatch Logs, and none for the topic.

        Raises:
            FindingsError: If the queue's nodes are not launched into this block (UC4116), or the lead is too long
                (UC4117).
        """
        lead = checkpoint_lead.to_seconds() if checkpoint_lead else _DEFAULT_LEAD
        environment = _environment_of(block, queue=queue, lead=checkpoint_lead)
        super().__init__(scope, construct_id)
        self._environment = environment
        self._block = block
        self._queue = queue
        self._further_queues: list[str] = []
        self._kms_key = kms_key
        self._topic_key = None if topic else kms_key
        self._topic = topic or PrivateTopic(self, "Notices", kms_key=kms_key)
        # L1: for the ARN of an L2 one the CDK loads its table of all Regions.
        self._memory = ssm.CfnParameter(
            Construct(self, "Memory"),
            "Resource",
            type="String",
            value="{}",
            description="What the life cycle of the block remembers",
        ).ref
        self._function = self._define_function(lead)
        self._wake_up()
        self._function.alarm_on_errors(
            "Alarm",
            description=f"Nobody looks after the Capacity Block {block.reservation_id}: for "
            f"{_SILENT_MINUTES} minutes its function failed or did not run",
            minutes=_SILENT_MINUTES,
            treat_missing_data="breaching",
            topic=self._topic,
        )

    def _define_function(self, lead: float) -> SmallFunction:
        return SmallFunction(
            self,
            log_group=KeptLogGroup(self, kms_key=self._kms_key),
            description="Looks after one Capacity Block",
            role_description="Opens, drains and reports one Capacity Block; cannot buy",
            policy_name="Lifecycle",
            statements=self._statements(),
            handler="ultracluster_runtime.lifecycle.handler.handler",
            code=function_code(self, _MODULES),
            environment={
                "UC_RESERVATION_ID": self._block.reservation_id,
                "UC_COMPUTE_ENVIRONMENT": self._environment.arn,
                "UC_JOB_QUEUE": self._queue.job_queue_arn,
                "UC_TOPIC": self._topic.topic_arn,
                "UC_MEMORY": self._memory,
                "UC_CHECKPOINT_LEAD_SECONDS": str(lead),
            },
            timeout_seconds=_TIMEOUT,
            memory_mib=_MEMORY_MIB,
            one_at_a_time=True,  # its memory has one writer
            tried_again=False,
        )

    def _statements(self) -> list[Statement]:
        partition, region = Aws.PARTITION, Aws.REGION
        here = f"{region}:{Aws.ACCOUNT_ID}"
        return [
            Statement(_LOOK, ["*"], sid="Look"),
            Statement(
                ["ecs:DescribeContainerInstances"],
                # AWS Batch names the ECS cluster of a compute environment only after it has made it.
                [f"arn:{partition}:ecs:{here}:container-instance/*/*"],
                sid="FindNodesOfJobs",
            ),
            Statement(
                ["batch:UpdateComputeEnvironment"], [self._environment.arn], sid="OpenAndCloseEnvironment"
            ),
            Statement(["batch:UpdateJobQueue"], [self._queue.job_queue_arn], sid="OpenAndCloseQueue"),
            Statement(
                ["batch:TerminateJob"],
                # Ids of jobs are not known before, and they carry only the tags that a submission gives them.
                [f"arn:{partition}:batch:{here}:job/*"],
                sid="EndJobs",
            ),
            Statement(
                ["ssm:SendCommand"],
                [f"arn:{partition}:ssm:{region}::document/AWS-RunShellScript"],
                sid="RunShellScript",
            ),
            Statement(
                ["ssm:SendCommand"],
                [f"arn:{partition}:ec2:{here}:instance/*"],
                sid="OnNodesOfTheBlock",
                conditions={
                    "StringEquals": {f"ssm:resourceTag/{RESERVATION_TAG}": self._block.reservation_id}
                },
            ),
            Statement(
                ["ssm:GetParameter", "ssm:PutParameter"],
                [f"arn:{partition}:ssm:{here}:parameter/{self._memory}"],
                sid="Remember",
            ),
            *tell("Notify", self._topic, self._topic_key),
        ]

    def _wake_up(self) -> None:
        self._function.wake_up("EveryMinute", description="Wakes up what looks after a Capacity Block")
        # Events are best effort; they only make the function look earlier than within the minute.
        self._function.wake_up(
            "BlockEvents",
            description="EC2's events about a Capacity Block, under both names that AWS documents",
            event_pattern={
                "source": ["aws.ec2"],
                "detail-type": [*BLOCK_DELIVERED_EVENTS, *BLOCK_EXPIRATION_WARNING_EVENTS],
                "detail": {"capacity-reservation-id": [self._block.reservation_id]},
            },
        )

    def watch(self, queue: TrainingQueue) -> None:
        """Look after the jobs of one more queue that uses the block's compute environment.

        They are told and ended as those of the first queue. This queue itself stays open: what is submitted to it
        after the drain waits for other capacity.

        Args:
            queue: The queue.
        """
        self._further_queues.append(queue.job_queue_arn)
        self._function.set_variable("UC_FURTHER_JOB_QUEUES", ",".join(self._further_queues))

    @property
    def block(self) -> CapacityBlock:
        """The block."""
        return self._block

    @property
    def function(self) -> lambda_.IFunction:
        """The function that looks after the block."""
        return self._function.function

    @property
    def topic(self) -> sns.ITopic:
        """Topic of the notices."""
        return l2_topic(self._topic)


def _environment_of(
    block: CapacityBlock, *, queue: TrainingQueue, lead: Duration | None
) -> ComputeEnvironment:
    found = next((each for each in queue.environments if each.nodes.capacity == block), None)
    findings = []
    if found is None:
        into = [
            each.nodes.capacity.reservation_id
            for each in queue.environments
            if isinstance(each.nodes.capacity, (CapacityBlock, CapacityReservation))
        ]
        got = ", ".join(map(quote, into)) or "no reservation"
        findings.append(
            Finding(
                code="UC4116",
                problem=f"the nodes of the queue are launched into {got}, the block is {quote(block.reservation_id)}",
                remedy="Give the queue whose nodes have this block as their capacity",
                path="queue",
            )
        )
    if lead is not None and lead.to_seconds() > _LONGEST_LEAD_HOURS * 3600:
        findings.append(
            Finding(
                code="UC4117",
                problem=f"got {lead.to_human_string()}",
                allowed=f"0 to {_LONGEST_LEAD_HOURS} hours",
                path="checkpoint_lead",
            )
        )
    if findings or found is None:
        raise FindingsError(findings)
    return found
