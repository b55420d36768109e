"""Container images of jobs, and the permissions to pull them."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aws_cdk import Annotations, Aws
from aws_cdk import aws_iam as iam
from constructs import Construct

from ultracluster._foundation.permissions import PULL_ACTIONS, allow
from ultracluster._foundation.tokens import is_known
from ultracluster_catalog.names.identifiers import ECR_IMAGE

if TYPE_CHECKING:
    from aws_cdk import aws_ecr as ecr
    from aws_cdk import aws_ecr_assets as ecr_assets


@dataclass(frozen=True, kw_only=True, slots=True)
class ContainerImage:
    """A container image that grants jobs permission to pull it; jobs accept it in place of a reference.

    A plain reference does not always identify its repository: that of a new repository is a token while the app runs.

    Attributes:
        reference: Reference with a tag or digest.
        grant_pull: Function that grants a principal permission to pull the image.
    """

    reference: str
    grant_pull: Callable[[iam.IGrantable], iam.Grant]

    @classmethod
    def from_repository(cls, repository: "ecr.IRepository", tag: str) -> "ContainerImage":
        """Return an image of an Amazon ECR repository, new or imported.

        Args:
            repository: Repository.
            tag: Tag, or digest, which begins with ``sha256:``.
        """
        return cls(
            reference=repository.repository_uri_for_tag_or_digest(tag), grant_pull=repository.grant_pull
        )

    @classmethod
    def from_docker_image_asset(cls, asset: "ecr_assets.DockerImageAsset") -> "ContainerImage":
        """Return an image that the CDK builds from a folder and pushes at deployment.

        Args:
            asset: Image; its `platform` must be that of the nodes.
        """
        return cls(reference=asset.image_uri, grant_pull=asset.repository.grant_pull)


def pull_image(scope: Construct, image: str) -> list[iam.PolicyStatement]:
    """Return the statements to pull an image from Amazon ECR, and warn about an image that is or may be elsewhere."""
    if not is_known(image):
        Annotations.of(scope).add_warning_v2(
            "ultracluster:imageNotKnown",
            "the repository of the image is unknown until deployment, so the job gets no permission to pull it; pass a "
            "ContainerImage, for example from TrainingImageRepository.image, or grant the permission to execution_role",
        )
        return []
    repository = re.fullmatch(ECR_IMAGE, image)
    if repository is None:
        Annotations.of(scope).add_warning_v2(
            "ultracluster:imageNotInEcr",
            f"the image {image} is not in Amazon ECR: nodes without internet access "
            "cannot pull it; copy it to a private repository, or grant the permission to execution_role",
        )
        return []
    resource = f"{repository['region']}:{repository['account']}:repository/{repository['repository']}"
    return [
        allow("Login", ["ecr:GetAuthorizationToken"], ["*"]),
        allow("Pull", PULL_ACTIONS, [f"arn:{Aws.PARTITION}:ecr:{resource}"]),
    ]
