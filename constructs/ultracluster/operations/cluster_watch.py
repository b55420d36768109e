"""The function that looks at a cluster once a minute and publishes what neither AWS nor a node can say."""

from collections.abc import Sequence

from aws_cdk import Duration
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from ultracluster._foundation.function_code import function_code
from ultracluster._foundation.log_group import RetainedLogGroup
from ultracluster._foundation.scheduled_function import ScheduledFunction
from ultracluster.capacity.capacity import CapacityBlock, CapacityReservation
from ultracluster.nodes.node_group import NodeGroup
from ultracluster.nodes.node_metrics import NodeMetrics
from ultracluster.scheduling.training_queue import TrainingQueue

__all__ = ["ClusterWatch"]

_TIMEOUT = 50
_MEMORY_MIB = 256


class ClusterWatch(Construct):
    """Publishes the figures of the queue, of paid and unused nodes, of the time to the drain and of stalled steps.

    AWS Batch has no metrics, and those of EC2 for reservations come every five minutes. The function only reads; its way out is
    its own log, in CloudWatch's embedded metric format.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        metrics: NodeMetrics,
        queue: TrainingQueue,
        node_groups: Sequence[NodeGroup],
        kms_key: kms.IKey | None = None,
    ) -> None:
        """Define the function.

        Args:
            scope: Parent construct.
            construct_id: Construct ID.
            metrics: The metrics of the cluster; gives its name.
            queue: The queue; `watch` adds more.
            node_groups: The nodes of the cluster, of all sources of capacity.
            kms_key: Key of your own for its log; its policy must let CloudWatch Logs use it. Default: the keys of CloudWatch Logs.
        """
        super().__init__(scope, construct_id)
        self._queues = [queue.job_queue_arn]
        capacities = [each.capacity for each in node_groups]
        reserved = [each for each in capacities if isinstance(each, (CapacityBlock, CapacityReservation))]
        self._function = ScheduledFunction(
            self,
            log_group=RetainedLogGroup(self, kms_key=kms_key),
            description="Publishes what is seen of one cluster",
            role_description="Looks at one cluster; changes nothing",
            policy_name="Watch",
            statements=[
                iam.PolicyStatement(
                    sid="Look",
                    actions=[
                        "batch:ListJobs",
                        "cloudwatch:GetMetricData",
                        "ec2:DescribeCapacityReservations",
                        "ec2:DescribeInstances",
                    ],
                    resources=["*"],  # none of these can be narrowed to a resource
                )
            ],
            handler="ultracluster_runtime.watch.handler.handler",
            code=function_code(),
            environment={
                "UC_CLUSTER": metrics.cluster_name,
                "UC_JOB_QUEUES": queue.job_queue_arn,
                "UC_RESERVATIONS": ",".join(each.reservation_id for each in reserved),
                "UC_INSTANCE_PROFILES": ",".join(each.instance_profile_arn for each in node_groups),
                "UC_WITHOUT_RESERVATION": "no" if len(reserved) == len(capacities) else "yes",
            },
            timeout=Duration.seconds(_TIMEOUT),
            memory_size=_MEMORY_MIB,
            retries=False,
        )
        self._function.add_schedule("EveryMinute", description="Wakes up what looks at a cluster")

    def watch(self, queue: TrainingQueue) -> None:
        """Look at one more queue of the cluster.

        Args:
            queue: The queue.
        """
        self._queues.append(queue.job_queue_arn)
        self._function.add_environment("UC_JOB_QUEUES", ",".join(self._queues))

    @property
    def function(self) -> lambda_.IFunction:
        """The function."""
        return self._function
