"""An image of a registry that the app knows, so that jobs get the right to pull it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aws_cdk import aws_iam as iam

if TYPE_CHECKING:
    from aws_cdk import aws_ecr as ecr

__all__ = ["ContainerImage"]


@dataclass(frozen=True, kw_only=True, slots=True)
class ContainerImage:
    """A container image with what lets a job pull it; jobs take it wherever they take the text of a reference.

    A reference alone does not always say which repository it is in: while the app runs, that of a new repository is a
    placeholder.

    Attributes:
        reference: Reference with a tag or digest.
        grant_pull: Lets somebody pull it.
    """

    reference: str
    grant_pull: Callable[[iam.IGrantable], iam.Grant]

    @classmethod
    def from_repository(cls, repository: "ecr.IRepository", tag: str) -> "ContainerImage":
        """Give an image of any repository of Amazon ECR, a new or an imported one.

        Args:
            repository: The repository.
            tag: Its tag, or its digest, which begins with ``sha256:``.
        """
        return cls(
            reference=repository.repository_uri_for_tag_or_digest(tag), grant_pull=repository.grant_pull
        )
