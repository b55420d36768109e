"""Nodes that an Auto Scaling group starts and keeps, whether jobs wait or not."""

from aws_cdk import Aws, CfnAutoScalingScheduledAction, CfnUpdatePolicy
from aws_cdk import aws_iam as iam
from constructs import Construct

from ultracluster._foundation.permissions import allow
from ultracluster.nodes.node_group import NodeGroup
from ultracluster_catalog.limits.queues import ENVIRONMENT_TAG


class NodeFleet(Construct):
    """An Auto Scaling group of identical nodes in one subnet: the second road into a Capacity Block (decision 0024).

    It starts without nodes, so that no deployment costs or waits for any. The life cycle of a Capacity Block sets its desired
    capacity; nodes of other capacity start when you set it (``aws autoscaling set-desired-capacity``), and run until you set
    it to 0.
    """

    max_nodes: int
    """Maximum number of nodes."""
    nodes: NodeGroup
    """Nodes of the group."""

    def __init__(self, scope: Construct, construct_id: str, *, nodes: NodeGroup, max_nodes: int) -> None:
        """Define the group, of at most as many nodes as the reservation has."""
        from aws_cdk import aws_autoscaling as autoscaling  # noqa: PLC0415 - slow to import

        super().__init__(scope, construct_id)
        environment = {ENVIRONMENT_TAG: nodes.joins.compute_environment_arn} if nodes.joins else {}
        group = autoscaling.CfnAutoScalingGroup(
            self,
            "Resource",
            min_size="0",
            max_size=str(max_nodes),
            launch_template=autoscaling.CfnAutoScalingGroup.LaunchTemplateSpecificationProperty(
                launch_template_id=nodes.launch_template_id, version=nodes.launch_template_version
            ),
            vpc_zone_identifier=[nodes.network.subnet_id],
            placement_group=nodes.placement.placement_group_name if nodes.placement else None,
            # Nodes end by the drain, or because they are bad, and never because the group shrinks by itself.
            new_instances_protected_from_scale_in=True,
            capacity_rebalance=False,
            health_check_type="EC2",
            # The name of the group is a tag of its nodes by itself; ours are in the launch template.
            tags=[
                autoscaling.CfnAutoScalingGroup.TagPropertyProperty(
                    key=key, value=value, propagate_at_launch=False
                )
                for key, value in {**nodes.tags.tag_values(), **environment}.items()
            ],
        )
        # A deployment in the middle of a block leaves the sizes alone that the life cycle has set (reference of
        # AWS::AutoScaling::ScheduledAction, read 2026-11).
        group.cfn_options.update_policy = CfnUpdatePolicy(
            auto_scaling_scheduled_action=CfnAutoScalingScheduledAction(
                ignore_unmodified_group_size_properties=True
            )
        )
        self._name = group.ref
        self.max_nodes = max_nodes
        self.nodes = nodes

    def size_statements(self) -> list[iam.PolicyStatement]:
        """Return the permissions to read the group, set its desired capacity and let it end nodes."""
        group = (
            f"arn:{Aws.PARTITION}:autoscaling:{Aws.REGION}:{Aws.ACCOUNT_ID}:"
            f"autoScalingGroup:*:autoScalingGroupName/{self._name}"
        )
        return [
            # Without resource-level permissions.
            allow("ReadGroup", ["autoscaling:DescribeAutoScalingGroups"], ["*"]),
            allow(
                "SizeGroup", ["autoscaling:SetDesiredCapacity", "autoscaling:SetInstanceProtection"], [group]
            ),
        ]

    @property
    def auto_scaling_group_name(self) -> str:
        """Name of the group."""
        return self._name
