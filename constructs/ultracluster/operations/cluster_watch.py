"""The function that looks at a cluster once a minute and publishes what neither AWS nor a node can say."""

from collections.abc import Sequence

from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from ultracluster._foundation.function_code import function_code
from ultracluster._foundation.log_group import KeptLogGroup
from ultracluster._foundation.scheduled_function import SmallFunction
from ultracluster._foundation.statement import Statement
from ultracluster.capacity.capacity import CapacityBlock, CapacityReservation
from ultracluster.nodes.node_group import NodeGroup
from ultracluster.nodes.node_metrics import NodeMetrics
from ultracluster.scheduling.training_queue import TrainingQueue

__all__ = ["ClusterWatch"]

_MODULES = (
    "ultracluster_catalog/capacity/capacity_blocks.py",
    "ultracluster_rules/findings.py",
    "ultracluster_catalog/machines/instance_type.py",
    "ultracluster_catalog/machines/instance_types.py",
    "ultracluster_catalog/observability/metrics.py",
    "ultracluster_rules/plain_numbers.py",
    "ultracluster_rules/rules.py",
    "ultracluster_runtime/lifecycle/observations.py",
    "ultracluster_runtime/watch/metrics.py",
    "ultracluster_runtime/watch/handler.py",
    "ultracluster_runtime/watch/describe.py",
    "ultracluster_runtime/functions/window.py",
)

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
            scope: Where to add it.
            construct_id: Its id there.
            metrics: The metrics of the cluster; gives its name.
            queue: The queue; `watch` adds more.
            node_groups: The nodes of the cluster, of all sources of capacity.
            kms_key: Key of your own for its log; its policy must let CloudWatch Logs use it. Default: the keys of CloudWatch Logs.
        """
        super().__init__(scope, construct_id)
        self._queues = [queue.job_queue_arn]
        capacities = [each.capacity for each in node_groups]
        reserved = [each for each in capacities if isinstance(each, (CapacityBlock, CapacityReservation))]
        self._function = SmallFunction(
            self,
            log_group=KeptLogGroup(self, kms_key=kms_key),
            description="Publishes what is seen of one cluster",
            role_description="Looks at one cluster; changes nothing",
            policy_name="Watch",
            statements=[
                Statement(
                    [
                        "batch:ListJobs",
                        "cloudwatch:GetMetricData",
                        "ec2:DescribeCapacityReservations",
                        "ec2:DescribeInstances",
                    ],
                    ["*"],  # none of these can be narrowed to a resource
                    sid="Look",
                )
            ],
            handler="ultracluster_runtime.watch.handler.handler",
            code=function_code(self, _MODULES),
            environment={
                "UC_CLUSTER": metrics.cluster_name,
                "UC_JOB_QUEUES": queue.job_queue_arn,
                "UC_RESERVATIONS": ",".join(each.reservation_id for each in reserved),
                "UC_INSTANCE_PROFILES": ",".join(each.instance_profile_arn for each in node_groups),
                "UC_WITHOUT_RESERVATION": "no" if len(reserved) == len(capacities) else "yes",
            },
            timeout_seconds=_TIMEOUT,
            memory_mib=_MEMORY_MIB,
            tried_again=False,
        )
        self._function.wake_up("EveryMinute", description="Wakes up what looks at a cluster")

    def watch(self, queue: TrainingQueue) -> None:
        """Look at one more queue of the cluster.

        Args:
            queue: The queue.
        """
        self._queues.append(queue.job_queue_arn)
        self._function.set_variable("UC_JOB_QUEUES", ",".join(self._queues))

    @property
    def function(self) -> lambda_.IFunction:
        """The function."""
        return self._function.function
