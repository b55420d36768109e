"""A function that publishes metrics of a cluster every minute that neither AWS nor a node provides."""

from collections.abc import Sequence

from aws_cdk import Duration
from aws_cdk import aws_kms as kms
from constructs import Construct

from ultracluster._foundation.permissions import allow
from ultracluster._foundation.scheduled_function import ScheduledFunction
from ultracluster.nodes.node_group import NodeGroup
from ultracluster.nodes.node_metrics import NodeMetrics
from ultracluster.scheduling.training_queue import TrainingQueue
from ultracluster_spec.arguments import validate_arguments
from ultracluster_spec.capacity import CapacityBlock, CapacityReservation

_TIMEOUT = 50
_MEMORY_MIB = 256


class ClusterWatch(Construct):
    """A function that publishes metrics of the queue, of paid and idle nodes, of the time to the drain, and of stalled steps.

    AWS Batch counts what jobs pass through, not what waits, and the metrics of EC2 for reservations have a period of five minutes. The function has read-only
    permissions and publishes through its log, in CloudWatch embedded metric format.
    """

    function: ScheduledFunction
    """Underlying function."""

    @validate_arguments
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
            metrics: Metrics of the cluster, which provide its name.
            queue: Queue to observe; `watch` adds others.
            node_groups: Nodes of the cluster, for all capacity sources.
            kms_key: KMS key for the log group; its policy must allow CloudWatch Logs to use it. Default: encryption by
                CloudWatch Logs.
        """
        super().__init__(scope, construct_id)
        self._queues = [queue.job_queue_arn]
        capacities = [group.capacity for group in node_groups]
        reserved = [
            capacity for capacity in capacities if isinstance(capacity, (CapacityBlock, CapacityReservation))
        ]
        self.function = ScheduledFunction(
            self,
            description="Publishes what is seen of one cluster",
            role_description="Looks at one cluster; changes nothing",
            policy_name="Watch",
            statements=[
                allow(
                    "Look",
                    [
                        "batch:DescribeComputeEnvironments",
                        "batch:DescribeJobQueues",
                        "batch:ListJobs",
                        "cloudwatch:GetMetricData",
                        "ec2:DescribeCapacityReservations",
                        "ec2:DescribeInstances",
                    ],
                    ["*"],  # these actions have no resource-level permissions
                )
            ],
            handler="ultracluster_runtime.watch.handler.handler",
            environment={
                "UC_CLUSTER": metrics.cluster_name,
                "UC_JOB_QUEUES": queue.job_queue_arn,
                "UC_RESERVATIONS": ",".join(reservation.reservation_id for reservation in reserved),
                "UC_INSTANCE_PROFILES": ",".join(group.instance_profile_arn for group in node_groups),
                "UC_WITHOUT_RESERVATION": "no" if len(reserved) == len(capacities) else "yes",
            },
            timeout=Duration.seconds(_TIMEOUT),
            memory_size=_MEMORY_MIB,
            retries=False,
            kms_key=kms_key,
        )
        self.node.default_child = self.function.node.default_child
        self.function.add_rule("EveryMinute", description="Wakes up what looks at a cluster")

    @validate_arguments
    def track_queue(self, queue: TrainingQueue) -> None:
        """Observe another queue of the cluster.

        Args:
            queue: Queue to add.
        """
        self._queues.append(queue.job_queue_arn)
        self.function.add_environment("UC_JOB_QUEUES", ",".join(self._queues))
