"""Container images of jobs, and the permissions to pull them."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, Union

from aws_cdk import Annotations, Aws, Stack
from aws_cdk import aws_batch as batch
from aws_cdk import aws_iam as iam
from constructs import Construct

from ultracluster._foundation.annotations import warn
from ultracluster._foundation.permissions import PULL_ACTIONS, allow
from ultracluster._foundation.tokens import is_known
from ultracluster_catalog.names.identifiers import ECR_IMAGE
from ultracluster_spec.arguments import NOT_OF_ITS_TYPE
from ultracluster_spec.findings import Finding, FindingsError
from ultracluster_spec.job_definitions import IMAGE_REFERENCE, check_image_account

if TYPE_CHECKING:  # a twentieth of a second of imports, for apps without such images
    from aws_cdk import aws_ecr as ecr
    from aws_cdk import aws_ecr_assets as ecr_assets
    from aws_cdk import aws_ecs as ecs


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


AnyContainerImage: TypeAlias = Union[str, ContainerImage, "ecs.ContainerImage", "ecr_assets.DockerImageAsset"]
"""A reference with a tag or digest, a `ContainerImage`, or an image of the CDK."""


def image_of(image: AnyContainerImage) -> "str | ContainerImage | ecs.ContainerImage":
    """Return an image with the reference that it has before it is bound to a job, if any.

    Raises:
        FindingsError: If it is no image (UC1032).
    """
    if isinstance(image, str | ContainerImage):
        return image
    from aws_cdk import aws_ecr_assets as ecr_assets  # noqa: PLC0415 - slow to import
    from aws_cdk import aws_ecs as ecs  # noqa: PLC0415 - slow to import

    if isinstance(image, ecr_assets.DockerImageAsset):
        return ContainerImage.from_docker_image_asset(image)
    if isinstance(image, ecs.ContainerImage):
        return image
    remedy = "A repository has many images: name one by ContainerImage.from_repository(repository, TAG)"
    is_repository = hasattr(image, "repository_uri_for_tag_or_digest")
    raise FindingsError.of(
        NOT_OF_ITS_TYPE,
        f"got an object of {type(image).__name__}",
        allowed="a reference with a tag or digest, a ContainerImage, an ecs.ContainerImage or a DockerImageAsset",
        remedy=remedy if is_repository else "",
        path="image",
    )


def reference_of(image: AnyContainerImage) -> str:
    """Return the reference of an image, which is empty for one of the CDK that is built or named when it is bound."""
    if isinstance(image, ContainerImage):
        return image.reference
    return image if isinstance(image, str) else str(getattr(image, "image_name", ""))


def check_reference(image: "str | ContainerImage | ecs.ContainerImage") -> list[Finding]:
    """Check the reference of an image, as far as it is known."""
    reference = reference_of(image)
    unbound = not isinstance(image, str | ContainerImage)
    return [] if unbound or not is_known(reference) else IMAGE_REFERENCE.check(reference, path="image")


def bind_image(
    scope: Construct, image: "ContainerImage | ecs.ContainerImage", role: iam.IRole
) -> tuple[str, batch.CfnJobDefinition.RepositoryCredentialsProperty | None]:
    """Let a role pull an image, and return its reference and the credentials of a private registry."""
    if isinstance(image, ContainerImage):
        image.grant_pull(role)
        return image.reference, None
    from aws_cdk import aws_ecs as ecs  # noqa: PLC0415 - slow to import

    # An image of the CDK grants to the execution role of an ECS task, so that there is one while it does.
    task = ecs.TaskDefinition(
        scope, "Task", compatibility=ecs.Compatibility.EC2, execution_role=role, task_role=role
    )
    nothing = ecs.ContainerImage.from_registry("scratch")
    by_name = isinstance(image, ecs.RepositoryImage)  # the CDK warns that no role may pull it yet
    container = task.add_container("Container", image=nothing, memory_limit_mib=4)
    bound = image.bind(task if by_name else scope, container)
    scope.node.try_remove_child("Task")
    for statement in pull_image(scope, bound.image_name) if by_name else ():
        role.add_to_principal_policy(statement)
    credentials = None
    if given := bound.repository_credentials:
        credentials = batch.CfnJobDefinition.RepositoryCredentialsProperty(
            credentials_parameter=given.credentials_parameter or ""
        )
    return bound.image_name, credentials


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
    account = Stack.of(scope).account
    warn(scope, *check_image_account(image, repository["account"], account if is_known(account) else None))
    resource = f"{repository['region']}:{repository['account']}:repository/{repository['repository']}"
    return [
        allow("Login", ["ecr:GetAuthorizationToken"], ["*"]),
        allow("Pull", PULL_ACTIONS, [f"arn:{Aws.PARTITION}:ecr:{resource}"]),
    ]
