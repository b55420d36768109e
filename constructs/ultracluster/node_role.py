"""The role of a node, with no action by wildcard."""

from aws_cdk import aws_iam as iam
from constructs import Construct

__all__ = ["define_node_role"]

# The ECS agent's calls; none of them can be narrowed to one cluster, because AWS Batch names the ECS cluster
# of a compute environment only after it has made it.
_ECS_AGENT_ACTIONS = [
    "ecs:DeregisterContainerInstance",
    "ecs:DiscoverPollEndpoint",
    "ecs:Poll",
    "ecs:RegisterContainerInstance",
    "ecs:StartTelemetrySession",
    "ecs:SubmitAttachmentStateChanges",
    "ecs:SubmitContainerStateChange",
    "ecs:SubmitTaskStateChange",
    "ecs:UpdateContainerInstancesState",
]

# Session Manager's calls, so that a node can be looked at without SSH.
_SESSION_ACTIONS = [
    "ssm:UpdateInstanceInformation",
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
    role = iam.Role(
        scope,
        "Role",
        assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"),
        description="Nodes of the cluster: the ECS agent and Session Manager",
    )
    role.add_to_policy(iam.PolicyStatement(sid="EcsAgent", actions=_ECS_AGENT_ACTIONS, resources=["*"]))
    # The agent tags the node while it registers it, and may tag nothing else.
    role.add_to_policy(
        iam.PolicyStatement(
            sid="TagAtRegistration",
            actions=["ecs:TagResource"],
            resources=["*"],
            conditions={"StringEquals": {"ecs:CreateAction": "RegisterContainerInstance"}},
        )
    )
    role.add_to_policy(iam.PolicyStatement(sid="SessionManager", actions=_SESSION_ACTIONS, resources=["*"]))
    return role
