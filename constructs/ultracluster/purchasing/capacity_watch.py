"""A function that looks for a Capacity Block and tells when it is on offer. It cannot buy."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from aws_cdk import Duration, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from constructs import Construct

from ultracluster._foundation.annotations import warn
from ultracluster._foundation.permissions import allow
from ultracluster._foundation.private_topic import notification_topic, publish_statements
from ultracluster._foundation.scheduled_function import ScheduledFunction
from ultracluster_catalog.machines.instance_type import InstanceType
from ultracluster_catalog.observability.metrics import (
    OFFERINGS_DIMENSION,
    OFFERINGS_METRIC,
    OFFERINGS_NAMESPACE,
    OFFERINGS_PRICE_METRIC,
)
from ultracluster_spec.arguments import validate_arguments
from ultracluster_spec.cluster_rules.alarm_rules import warn_of_watch_without_recipients
from ultracluster_spec.findings import reject
from ultracluster_spec.instance_type import get_instance_type
from ultracluster_spec.standing_order import StandingOrder, check_standing_order
from ultracluster_spec.values import broken_bounds, wrong_types

_EVERY_MINUTES: Final = 5
_TIMEOUT_MINUTES: Final = 4
_MEMORY_MIB: Final = 256


class CapacityWatch(Construct):
    """A function that searches offerings every five minutes, and tells a topic when one appears or its price falls.

    Its role may search, read its own metrics and publish to its topic; purchases are denied, and remain with
    `ultracluster capacity buy --wait` on a machine that may purchase. A dashboard draws the price of what was on offer beside the
    list price. It notifies again of an offering that is gone for twenty minutes and then returns.
    """

    function: ScheduledFunction
    """Underlying function."""
    topic: sns.ITopic
    """Topic of the messages."""

    @validate_arguments
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        order: StandingOrder,
        instance_type: str | InstanceType,
        emails: Sequence[str] = (),
        topic: sns.ITopic | None = None,
        kms_key: kms.IKey | None = None,
    ) -> None:
        """Define the function.

        Args:
            order: What to look for. In a stack without a Region, it names its Regions.
            instance_type: Instance type, or its custom description.
            emails: Addresses to tell; each must confirm its subscription. Default: none; without
                `topic` as well, the construct warns (UC2250).
            topic: Topic to use. Default: a new one.
            kms_key: KMS key of the log group and the topic; its policy must allow CloudWatch and CloudWatch Logs to use it.
                Default: encryption by CloudWatch Logs, and none of the topic.

        Raises:
            FindingsError: If no offering can meet the order (UC7151, UC7101), or a value is of another type or out of bounds.
        """
        reject(wrong_types(order) or broken_bounds(order))
        node_type = get_instance_type(instance_type)
        order = order if order.regions else replace(order, regions=(Stack.of(scope).region,))
        reject(check_standing_order(order, node_type))
        super().__init__(scope, construct_id)
        self.topic = topic or notification_topic(self, emails=emails, kms_key=kms_key)
        if topic is None and not emails:
            warn(self, warn_of_watch_without_recipients("emails or topic"))
        self._watch = self.node.path
        wanted = {
            "watch": self._watch,
            "instance_type": node_type.name,
            "counts": [*order.counts],
            "hours": order.days * 24,
            "start_after": order.start_after.isoformat(),
            "start_before": order.start_before.isoformat(),
            "regions": [*order.regions],
            "max_usd": order.max_usd,
            "until": order.until.isoformat(),
        }
        self.function = ScheduledFunction(
            self,
            description="Looks for a Capacity Block; cannot buy",
            role_description="Looks for a Capacity Block; cannot buy",
            policy_name="Watch",
            statements=[
                # These actions have no resource-level permissions.
                allow("Look", ["cloudwatch:GetMetricData", "ec2:DescribeCapacityBlockOfferings"], ["*"]),
                *publish_statements("Tell", self.topic, kms_key),
            ],
            handler="ultracluster_runtime.watch.offerings.handler",
            environment={
                "UC_STANDING_ORDER": Stack.of(self).to_json_string(wanted),
                "UC_TOPIC_ARN": self.topic.topic_arn,
            },
            timeout=Duration.minutes(_TIMEOUT_MINUTES),
            memory_size=_MEMORY_MIB,
            retries=False,
            kms_key=kms_key,
        )
        self.node.default_child = self.function.node.default_child
        self.function.add_rule(
            "Schedule", description="Wakes up what looks for capacity", minutes=_EVERY_MINUTES
        )
        self._draw(order, node_type)

    def _draw(self, order: StandingOrder, node_type: InstanceType) -> None:
        """Define the picture of what was on offer."""
        price = order.list_price(node_type)
        lines = [cloudwatch.HorizontalAnnotation(value=float(price), label="list price")] if price else []
        period = Duration.minutes(_EVERY_MINUTES)
        dashboard = cloudwatch.Dashboard(self, "Dashboard")
        for title, name, statistic, annotations in (
            ("Lowest price on offer, USD per node-hour", OFFERINGS_PRICE_METRIC, "Minimum", lines),
            ("Offerings that fit", OFFERINGS_METRIC, "Maximum", []),
        ):
            metric = cloudwatch.Metric(
                namespace=OFFERINGS_NAMESPACE,
                metric_name=name,
                dimensions_map={OFFERINGS_DIMENSION: self._watch},
                statistic=statistic,
                period=period,
            )
            dashboard.add_widgets(
                cloudwatch.GraphWidget(title=title, left=[metric], left_annotations=annotations, width=24)
            )
