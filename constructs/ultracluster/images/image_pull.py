"""What lets AWS Batch pull a job's image: the actions of Amazon ECR, on the image's own repository."""

import re

from aws_cdk import Annotations, Aws, Token
from constructs import Construct

from ultracluster._foundation.statement import Statement

__all__ = ["pull_image"]

_ECR_IMAGE = re.compile(
    r"(?P<account>\d{12})\.dkr\.ecr\.(?P<region>[a-z0-9-]+)\.amazonaws\.com(?:\.cn)?/(?P<repository>[^:@]+)"
)


def pull_image(scope: Construct, image: str) -> list[Statement]:
    """Give the statements that let a role pull an image of Amazon ECR; warn of an image that is elsewhere, or may be.

    Args:
        scope: The job, for the warning.
        image: The image.
    """
    if Token.is_unresolved(image):
        Annotations.of(scope).add_warning_v2(
            "ultracluster:imageNotKnown",
            "where the image is will be known at deployment only, so that the job gets no right to pull it; give a "
            "ContainerImage, such as TrainingImageRepository.image gives, or grant its pull to execution_role",
        )
        return []
    repository = _ECR_IMAGE.match(image)
    if repository is None:
        Annotations.of(scope).add_warning_v2(
            "ultracluster:imageNotInEcr",
            f"the image {image} is not an address in Amazon ECR: nodes of a network without a way out "
            "cannot pull it; copy it to a private repository, or grant its pull to execution_role",
        )
        return []
    place = f"{repository['region']}:{repository['account']}:repository/{repository['repository']}"
    return [
        Statement(["ecr:GetAuthorizationToken"], ["*"], sid="Login"),
        Statement(
            ["ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"],
            [f"arn:{Aws.PARTITION}:ecr:{place}"],
            sid="Pull",
        ),
    ]
