"""What the ECS agent of a node may do: in its own cluster only."""

from aws_cdk import Aws, Fn
from aws_cdk import aws_iam as iam
from constructs import Construct

from ultracluster._foundation.permissions import allow

# Amazon ECS Developer Guide, container instance IAM role (read 2026-11,
# https://docs.aws.amazon.com/AmazonECS/latest/developerguide/instance_IAM_role.html). The agent does not call
# DeregisterContainerInstance, which ends the work of a node; it is left out.
_ON_CLUSTER = (
    "ecs:RegisterContainerInstance",
    "ecs:SubmitAttachmentStateChanges",
    "ecs:SubmitContainerStateChange",
    "ecs:SubmitTaskStateChange",
)
_ON_NODES = ("ecs:Poll", "ecs:StartTelemetrySession", "ecs:UpdateContainerInstancesState")


class AgentPolicy(iam.Policy):
    """Lets nodes that AWS Batch starts join the ECS cluster of one compute environment.

    The environment needs the role of its nodes, so that this policy comes after both.
    """

    def __init__(
        self, scope: Construct, construct_id: str, *, role: iam.IRole, compute_environment_arn: str
    ) -> None:
        """Define the policy of a role for the cluster of an environment."""
        super().__init__(
            scope,
            construct_id,
            roles=[role],
            statements=agent_statements(cluster_of_environment(compute_environment_arn)),
        )


def cluster_of_environment(compute_environment_arn: str) -> str:
    """Return the ARN of the ECS cluster that AWS Batch makes for a managed environment, with a star for what is not known."""
    # AWS Batch names the cluster AWSBatch-ENVIRONMENT-UUID: its own role is limited to AWSBatch*
    # (https://docs.aws.amazon.com/aws-managed-policy/latest/reference/BatchServiceRolePolicy.html, read 2026-11), and the
    # policies of AWS ParallelCluster to AWSBatch-ENVIRONMENT* (cli/src/pcluster/templates/awsbatch_builder.py).
    name = Fn.select(1, Fn.split("compute-environment/", compute_environment_arn))
    return f"{_ecs()}:cluster/AWSBatch-{name}-*"


def agent_statements(ecs_cluster_arn: str) -> list[iam.PolicyStatement]:
    """Return the statements for the calls of the agent in a cluster, of which stars may be a part."""
    return [
        allow("EcsAgent", _ON_CLUSTER, [ecs_cluster_arn]),
        allow(
            "EcsAgentOfNode",
            _ON_NODES,
            [f"{_ecs()}:container-instance/*"],
            {"ArnLike": {"ecs:cluster": ecs_cluster_arn}},
        ),
    ]


def _ecs() -> str:
    return f"arn:{Aws.PARTITION}:ecs:{Aws.REGION}:{Aws.ACCOUNT_ID}"
