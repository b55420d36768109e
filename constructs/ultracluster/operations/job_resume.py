"""A function that resubmits jobs after a drain or the loss of a node, up to the limit that each job sets."""

from typing import Unpack

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
from ultracluster.scheduling.training_queue import TrainingQueue
from ultracluster_spec.arguments import validate_arguments

_READ = (
    "batch:DescribeComputeEnvironments",
    "batch:DescribeJobDefinitions",
    "batch:DescribeJobQueues",
    "batch:DescribeJobs",
    "batch:ListJobs",
)
_TIMEOUT = 120
_MEMORY_MIB = 256
_SILENT_MINUTES = 5


class JobResume(Construct):
    """A function that resubmits interrupted jobs, whose programs continue from their last checkpoint.

    A job is submitted again when a Capacity Block was drained or one of its nodes was lost, as often as `resume` of the job
    says: never after a failure of its program or a manual stop, and once for each ending. After a drain it waits
    for the queue to open with the next block or an extension. The new job has the overrides of the old one and no
    dependencies, because those have succeeded; its tags name the job that it continues.
    """

    function: ScheduledFunction
    """Underlying function."""

    @validate_arguments
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        queue: TrainingQueue,
        topic: sns.ITopic | None = None,
        kms_key: kms.IKey | None = None,
    ) -> None:
        """Define the function, its schedule and its table.

        Args:
            queue: Queue of the jobs; `watch` adds others.
            topic: SNS topic for notices about each ending and for the alarm on the function. Default: no notices.
            kms_key: KMS key for the log group and the table; its policy must allow CloudWatch Logs to use it. Default: AWS
                owned keys.
        """
        super().__init__(scope, construct_id)
        self._queues: list[str] = []
        state = StateTable(self, kms_key=kms_key, expires="expires")
        self._submit = iam.PolicyStatement(sid="Submit", actions=["batch:SubmitJob"])
        account = f"{Aws.REGION}:{Aws.ACCOUNT_ID}"
        self.function = ScheduledFunction(
            self,
            description="Submits jobs of one cluster again that were ended by no fault of theirs",
            role_description="Submits jobs of one cluster again",
            policy_name="Resume",
            statements=[
                allow("Look", _READ, ["*"]),
                self._submit,
                # Job IDs are unknown before submission.
                allow("TagJobs", ["batch:TagResource"], [f"arn:{Aws.PARTITION}:batch:{account}:job/*"]),
                *state.statements("dynamodb:PutItem", "dynamodb:Scan", "dynamodb:UpdateItem"),
                *(publish_statements("Notify", topic, topic.master_key) if topic else []),
            ],
            handler="ultracluster_runtime.resume.handler.handler",
            environment={
                "UC_STATE_TABLE": state.table_name,
                **({"UC_TOPIC": topic.topic_arn} if topic else {}),
            },
            timeout=Duration.seconds(_TIMEOUT),
            memory_size=_MEMORY_MIB,
            retries=False,
            kms_key=kms_key,
        )
        self.node.default_child = self.function.node.default_child
        self.function.add_rule("EveryMinute", description="Looks for jobs to submit again")
        # Events are delivered on a best-effort basis; they only make the function react before the next minute.
        self._ended = self.function.add_rule("JobsEnded", description="Jobs that failed", event_pattern={})
        if topic is not None:
            self.function.alarm_on_errors(
                "Alarm",
                description=f"No job is submitted again: for {_SILENT_MINUTES} minutes the function failed or did not run",
                minutes=_SILENT_MINUTES,
                treat_missing_data="breaching",
                topic=topic,
            )
        self.track_queue(queue)

    def metric_errors(self, **options: Unpack[MetricOptions]) -> cloudwatch.Metric:
        """Return the invocations of the function that failed: their sum, unless `**options` of `MetricOptions` say otherwise."""
        return self.function.metric_errors(**options)

    @validate_arguments
    def track_queue(self, queue: TrainingQueue) -> None:
        """Also resume the jobs of another queue.

        Args:
            queue: Queue to add.
        """
        self._queues.append(queue.job_queue_arn)
        self._submit.add_resources(queue.job_queue_arn)
        self.function.add_environment("UC_JOB_QUEUES", ",".join(self._queues))
        self._ended.event_pattern = {
            "source": ["aws.batch"],
            "detail-type": ["Batch Job State Change"],
            "detail": {"jobQueue": list(self._queues), "status": ["FAILED"]},
        }
        queue.resume_with(self.allow)

    def allow(self, job_definition_arn: str) -> None:
        """Grant the function permission to submit jobs of a definition.

        A deployment replaces the revision of a definition; jobs of an earlier one continue in the new one.

        Args:
            job_definition_arn: ARN of the job definition, with its revision.
        """
        self._submit.add_resources(job_definition_arn)
