"""A function that tells people every week what a Capacity Block gave for its money."""

from collections.abc import Sequence

from aws_cdk import Duration, Stack
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from constructs import Construct

from ultracluster._foundation.permissions import allow
from ultracluster._foundation.private_topic import publish_statements
from ultracluster._foundation.scheduled_function import ScheduledFunction
from ultracluster.nodes.node_metrics import NodeMetrics
from ultracluster_catalog.machines.instance_type import InstanceType
from ultracluster_catalog.prices.prices import capacity_block_price
from ultracluster_spec.arguments import validate_arguments
from ultracluster_spec.capacity import CapacityBlock

_WEEK_MINUTES = 7 * 24 * 60
_TIMEOUT_MINUTES = 2
_MEMORY_MIB = 512


class WeeklyReport(Construct):
    """A function that sends the figures of `ultracluster cost report` to a topic, a week after the deployment and every week.

    It reports on the block that runs, since its start, or that ended in the last week; before the start it says nothing. It
    reads only, at the list price of the block: what the ledger or the bill says is for `ultracluster cost report --paid`.
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
        blocks: Sequence[CapacityBlock],
        instance_type: InstanceType,
        topic: sns.ITopic,
        kms_key: kms.IKey | None = None,
    ) -> None:
        """Define the function.

        Args:
            metrics: Metrics of the cluster, which provide its name.
            blocks: Blocks of the cluster.
            instance_type: Type of its nodes.
            topic: Topic to tell.
            kms_key: KMS key of the log group. Default: encryption by CloudWatch Logs.
        """
        super().__init__(scope, construct_id)
        price = capacity_block_price(instance_type.name, Stack.of(self).region).amount
        self.function = ScheduledFunction(
            self,
            description="Reports every week what a Capacity Block gave for its money",
            role_description="Reads the metrics of one cluster; changes nothing",
            policy_name="Report",
            statements=[
                # These actions have no resource-level permissions.
                allow(
                    "Look",
                    [
                        "cloudwatch:GetMetricData",
                        "cloudwatch:ListMetrics",
                        "ec2:DescribeCapacityReservations",
                    ],
                    ["*"],
                ),
                *publish_statements("Tell", topic, topic.master_key),
            ],
            handler="ultracluster_runtime.watch.weekly_report.handler",
            environment={
                "UC_CLUSTER": metrics.cluster_name,
                "UC_RESERVATIONS": ",".join(block.reservation_id for block in blocks),
                "UC_NODE_HOUR_USD": "" if price is None else str(price),
                "UC_TOPIC_ARN": topic.topic_arn,
            },
            timeout=Duration.minutes(_TIMEOUT_MINUTES),
            memory_size=_MEMORY_MIB,
            retries=False,
            kms_key=kms_key,
        )
        self.node.default_child = self.function.node.default_child
        self.function.add_rule(
            "Weekly", description="Wakes up what reports on a block", minutes=_WEEK_MINUTES
        )
