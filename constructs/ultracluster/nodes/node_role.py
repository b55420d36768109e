"""The role of a node, with no action by wildcard."""

from aws_cdk import Aws
from aws_cdk import aws_iam as iam
from constructs import Construct

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


def define_node_role(scope: Construct) -> iam.Role:
    """Define the instance role: the ECS agent and Session Manager, nothing of the jobs.

    Args:
        scope: The node group; the role is its child ``Role``.
    """
    # This account and Region only: with `*`, stolen credentials of a node could join clusters of other Regions.
    partition = Aws.PARTITION
    place = f"{Aws.REGION}:{Aws.ACCOUNT_ID}"
    ecs = f"arn:{partition}:ecs:{place}"
    statements = [
        iam.PolicyStatement(sid="EcsAgent", actions=_ECS_AGENT_ACTIONS, resources=[f"{ecs}:*"]),
        # The agent tags the node while it registers it, and may tag nothing else.
        iam.PolicyStatement(
            sid="TagAtRegistration",
            actions=["ecs:TagResource"],
            resources=[f"{ecs}:container-instance/*"],
            conditions={"StringEquals": {"ecs:CreateAction": "RegisterContainerInstance"}},
        ),
        # The heartbeat of the agent of Systems Manager, whose node has one of two kinds of ARN.
        iam.PolicyStatement(
            sid="SystemsManager",
            actions=["ssm:UpdateInstanceInformation"],
            resources=[
                f"arn:{partition}:ec2:{place}:instance/*",
                f"arn:{partition}:ssm:{place}:managed-instance/*",
            ],
        ),
        iam.PolicyStatement(sid="Connections", actions=_CONNECTION_ACTIONS, resources=["*"]),
    ]
    return iam.Role(
        scope,
        "Role",
        assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"),
        description="Nodes of the cluster: the ECS agent and Session Manager",
        # Inline, so that no node starts before the role may do all of it.
        inline_policies={"Node": iam.PolicyDocument(statements=statements)},
    )
