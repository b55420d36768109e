"""Errors of the CloudFormation engine."""

from ultracluster_local.services.handlers import ServiceError

__all__ = ["NotUpdatableError", "ResourceError", "ValidationError"]


class ValidationError(ServiceError):
    """An invalid request or template; nothing was changed."""

    def __init__(self, message: str) -> None:
        super().__init__("ValidationError", message)


class ResourceError(Exception):
    """A failed resource; the stack is rolled back."""


class NotUpdatableError(ResourceError):
    """An update in place that CloudFormation supports and the local AWS does not."""

    def __init__(self, *, resource_type: str, properties: list[str]) -> None:
        super().__init__(
            f"The local AWS cannot update {', '.join(properties)} of {resource_type} in place; see `ultracluster docs local-aws`."
        )
