"""The role of a node, with no action by wildcard."""

from collections.abc import Sequence

from aws_cdk import Aws
from constructs import Construct

from ultracluster._foundation.service_role import ServiceRole
from ultracluster._foundation.statement import Statement

__all__ = ["define_node_role"]

# The ECS agent's calls on clusters and container instances. They cannot be narrowed to one cluster, because AWS Batch
# names the ECS cluster of a compute environment only after it has made it.
_ECS_AGENT_ACTIONS = [
    "ecs:DeregisterContainerInstance",
    "ecs:Poll",
    "ecs:RegisterContainerInstance",
    "ecs:StartTelemetrySession",
    "ecs:SubmitAttachmentStateChanges",
    "ecs:SubmitContainerStateChange",
    "ecs:SubmitTaskStateChange",
    "ecs:UpdateContainerInstancesState",
]

# Calls that take no resource: where the ECS agent listens, and the channels of Session Manager, by which a node can be
# looked at without SSH.
_CONNECTION_ACTIONS = [
    "ecs:DiscoverPollEndpoint",
    "ssmmessages:CreateControlChannel",
    "ssmmessages:CreateDataChannel",
    "ssmmessages:OpenControlChannel",
    "ssmmessages:OpenDataChannel",
]


def define_node_role(scope: Construct, further: Sequence[Statement]) -> ServiceRole:
    """Define the instance role: the ECS agent and Session Manager, nothing of the jobs.

    Args:
        scope: The node group; the role is its child ``Role``.
        further: What else a node may do.
    """
    # This account and Region only: with `*`, stolen credentials of a node could join clusters of other Regions.
    partition = Aws.PARTITION
    place = f"{Aws.REGION}:{Aws.ACCOUNT_ID}"
    ecs = f"arn:{partition}:ecs:{place}"
    return ServiceRole(
        scope,
        "Role",
        service="ec2.amazonaws.com",
        description="Nodes of the cluster: the ECS agent and Session Manager",
        policy_name="Node",
        statements=[
            Statement(_ECS_AGENT_ACTIONS, [f"{ecs}:*"], sid="EcsAgent"),
            # The agent tags the node while it registers it, and may tag nothing else.
            Statement(
                ["ecs:TagResource"],
                [f"{ecs}:container-instance/*"],
                sid="TagAtRegistration",
                conditions={"StringEquals": {"ecs:CreateAction": "RegisterContainerInstance"}},
            ),
            # The heartbeat of the agent of Systems Manager, whose node has one of two kinds of ARN.
            Statement(
                ["ssm:UpdateInstanceInformation"],
                [
                    f"arn:{partition}:ec2:{place}:instance/*",
                    f"arn:{partition}:ssm:{place}:managed-instance/*",
                ],
                sid="SystemsManager",
            ),
            Statement(_CONNECTION_ACTIONS, ["*"], sid="Connections"),
            *further,
        ],
    )
