"""The instance role of a node, without wildcard actions."""

from aws_cdk import Aws
from aws_cdk import aws_iam as iam
from constructs import Construct

# Calls of the ECS agent on clusters and container instances. They cannot be restricted to one cluster, because AWS Batch
# generates the name of the ECS cluster of a compute environment when it creates it.
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

# Calls without resource-level permissions: the endpoints of the ECS agent and the channels of Session Manager, for shell
# access without SSH.
_CONNECTION_ACTIONS = [
    "ecs:DiscoverPollEndpoint",
    "ssmmessages:CreateControlChannel",
    "ssmmessages:CreateDataChannel",
    "ssmmessages:OpenControlChannel",
    "ssmmessages:OpenDataChannel",
]


def define_node_role(scope: Construct) -> iam.Role:
    """Define the role ``Role`` of nodes, with permissions for the ECS agent and Session Manager, and none for jobs."""
    # Restricted to this account and Region: with `*`, stolen credentials could register nodes in other Regions.
    partition = Aws.PARTITION
    scope_arn = f"{Aws.REGION}:{Aws.ACCOUNT_ID}"
    ecs = f"arn:{partition}:ecs:{scope_arn}"
    statements = [
        iam.PolicyStatement(sid="EcsAgent", actions=_ECS_AGENT_ACTIONS, resources=[f"{ecs}:*"]),
        # The agent tags the container instance when it registers it.
        iam.PolicyStatement(
            sid="TagAtRegistration",
            actions=["ecs:TagResource"],
            resources=[f"{ecs}:container-instance/*"],
            conditions={"StringEquals": {"ecs:CreateAction": "RegisterContainerInstance"}},
        ),
        # The heartbeat of SSM Agent: the ARN of a node has one of two forms.
        iam.PolicyStatement(
            sid="SystemsManager",
            actions=["ssm:UpdateInstanceInformation"],
            resources=[
                f"arn:{partition}:ec2:{scope_arn}:instance/*",
                f"arn:{partition}:ssm:{scope_arn}:managed-instance/*",
            ],
        ),
        iam.PolicyStatement(sid="Connections", actions=_CONNECTION_ACTIONS, resources=["*"]),
    ]
    return iam.Role(
        scope,
        "Role",
        assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"),
        description="Nodes of the cluster: the ECS agent and Session Manager",
        # An inline policy, so that no node starts before the role has all permissions.
        inline_policies={"Node": iam.PolicyDocument(statements=statements)},
    )
