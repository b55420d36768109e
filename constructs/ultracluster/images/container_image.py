"""A container image together with the permission to pull it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aws_cdk import aws_iam as iam

if TYPE_CHECKING:
    from aws_cdk import aws_ecr as ecr

__all__ = ["ContainerImage"]


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
