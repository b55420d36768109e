"""The instance role of EC2 Image Builder builds, without wildcard actions."""

from collections.abc import Sequence

from aws_cdk import Aws
from aws_cdk import aws_iam as iam
from constructs import Construct

from ultracluster.images.neuron_ami_checks import private_image

# Permissions of AWS Systems Manager for the steps of Image Builder on the instance. Compared with the managed policies of
# the guide, these omit reading all parameters and permissions for container builds. The actions have no resource level, or
# read documents of AWS, whose ARNs vary.
_RUN_COMMAND_ACTIONS = [
    "ec2messages:AcknowledgeMessage",
    "ec2messages:DeleteMessage",
    "ec2messages:FailMessage",
    "ec2messages:GetEndpoint",
    "ec2messages:GetMessages",
    "ec2messages:SendReply",
    "ssm:DescribeDocument",
    "ssm:GetDocument",
    "ssm:ListAssociations",
    "ssm:PutInventory",
    "ssmmessages:CreateControlChannel",
    "ssmmessages:CreateDataChannel",
    "ssmmessages:OpenControlChannel",
    "ssmmessages:OpenDataChannel",
]
_MANAGED_INSTANCE_ACTIONS = [
    "ssm:ListInstanceAssociations",
    "ssm:UpdateInstanceAssociationStatus",
    "ssm:UpdateInstanceInformation",
]


def define_build_role(scope: Construct, container_images: Sequence[str]) -> iam.Role:
    """Define the role, with permissions to run the steps, write logs and pull images; tokens are granted elsewhere."""
    role = iam.Role(
        scope,
        "Role",
        assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"),
        description="The instance that EC2 Image Builder makes an AMI from",
    )
    components = f"arn:{Aws.PARTITION}:imagebuilder:{Aws.REGION}:{Aws.ACCOUNT_ID}:component/*"
    role.add_to_policy(
        iam.PolicyStatement(sid="Component", actions=["imagebuilder:GetComponent"], resources=[components])
    )
    role.add_to_policy(
        iam.PolicyStatement(
            sid="Tools", actions=["s3:GetObject"], resources=[f"arn:{Aws.PARTITION}:s3:::ec2imagebuilder*/*"]
        )
    )
    role.add_to_policy(
        iam.PolicyStatement(
            sid="Logs",
            actions=["logs:CreateLogGroup", "logs:CreateLogStream", "logs:PutLogEvents"],
            resources=[
                f"arn:{Aws.PARTITION}:logs:{Aws.REGION}:{Aws.ACCOUNT_ID}:log-group:/aws/imagebuilder/*"
            ],
        )
    )
    role.add_to_policy(iam.PolicyStatement(sid="RunCommand", actions=_RUN_COMMAND_ACTIONS, resources=["*"]))
    ssm = f"arn:{Aws.PARTITION}:ssm:{Aws.REGION}"
    role.add_to_policy(
        iam.PolicyStatement(
            sid="ManagedInstance",
            actions=_MANAGED_INSTANCE_ACTIONS,
            resources=[
                f"arn:{Aws.PARTITION}:ec2:{Aws.REGION}:{Aws.ACCOUNT_ID}:instance/*",
                f"{ssm}:{Aws.ACCOUNT_ID}:association/*",
                f"{ssm}:{Aws.ACCOUNT_ID}:managed-instance/*",
            ],
        )
    )
    if container_images:
        role.add_to_policy(
            iam.PolicyStatement(sid="Login", actions=["ecr:GetAuthorizationToken"], resources=["*"])
        )
    repositories = [match for image in container_images if (match := private_image(image))]
    if repositories:
        role.add_to_policy(
            iam.PolicyStatement(
                sid="Pull",
                actions=[
                    "ecr:BatchCheckLayerAvailability",
                    "ecr:BatchGetImage",
                    "ecr:GetDownloadUrlForLayer",
                ],
                resources=sorted(
                    {
                        f"arn:{Aws.PARTITION}:ecr:{repository['region']}:{repository['account']}:repository/{repository['repository']}"
                        for repository in repositories
                    }
                ),
            )
        )
    return role
