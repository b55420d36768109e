"""Errors of our CloudFormation."""

from ultracluster_local.services.handlers import ServiceError

__all__ = ["NotUpdatableError", "ResourceError", "ValidationError"]


class ValidationError(ServiceError):
    """The request or the template is wrong; nothing was done."""

    def __init__(self, message: str) -> None:
        super().__init__("ValidationError", message)


class ResourceError(Exception):
    """One resource failed; the stack is rolled back."""


class NotUpdatableError(ResourceError):
    """CloudFormation could update this in place, and the local AWS has no way to."""

    def __init__(self, *, resource_type: str, properties: list[str]) -> None:
        super().__init__(
            f"The local AWS cannot update {', '.join(properties)} of {resource_type} in place; see docs/local-aws.md."
        )
