"""Errors that EC2 uses for most invalid requests."""

from ultracluster_local.services.handlers import ServiceError

__all__ = ["invalid_combination", "invalid_value"]


def invalid_value(message: str) -> ServiceError:
    """Return the error for a value."""
    return ServiceError("InvalidParameterValue", message)


def invalid_combination(message: str) -> ServiceError:
    """Return the error for values that do not go together."""
    return ServiceError("InvalidParameterCombination", message)
