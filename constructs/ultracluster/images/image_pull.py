"""Permissions to pull the image of a job from Amazon ECR, limited to its repository."""

import re

from aws_cdk import Annotations, Aws, Token
from aws_cdk import aws_iam as iam
from constructs import Construct

from ultracluster_catalog.names.identifiers import ECR_IMAGE

__all__ = ["pull_image"]


def pull_image(scope: Construct, image: str) -> list[iam.PolicyStatement]:
    """Return the statements to pull an image from Amazon ECR, and warn about an image that is or may be elsewhere.

    Args:
        scope: Job to annotate with the warning.
        image: Image reference.
    """
    if Token.is_unresolved(image):
        Annotations.of(scope).add_warning_v2(
            "ultracluster:imageNotKnown",
            "where the image is will be known at deployment only, so that the job gets no right to pull it; give a "
            "ContainerImage, such as TrainingImageRepository.image gives, or grant its pull to execution_role",
        )
        return []
    repository = re.fullmatch(ECR_IMAGE, image)
    if repository is None:
        Annotations.of(scope).add_warning_v2(
            "ultracluster:imageNotInEcr",
            f"the image {image} is not an address in Amazon ECR: nodes of a network without a way out "
            "cannot pull it; copy it to a private repository, or grant its pull to execution_role",
        )
        return []
    resource = f"{repository['region']}:{repository['account']}:repository/{repository['repository']}"
    return [
        iam.PolicyStatement(sid="Login", actions=["ecr:GetAuthorizationToken"], resources=["*"]),
        iam.PolicyStatement(
            sid="Pull",
            actions=["ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"],
            resources=[f"arn:{Aws.PARTITION}:ecr:{resource}"],
        ),
    ]
