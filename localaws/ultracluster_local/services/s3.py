"""S3 bucket policies are kept and shown, and not enforced.

moto enforces them without their conditions, so that the statement which denies plain HTTP, as the CDK writes it for
`enforce_ssl`, would lock everybody out of a bucket.
"""

from typing import Any

from moto.iam.access_control import PermissionResult
from moto.s3.models import FakeBucket

__all__ = ["install"]


def install() -> None:
    """Let every bucket policy permit what it does not say."""
    FakeBucket.get_permission = _neutral


def _neutral(bucket: Any, action: str, resource: str) -> PermissionResult:  # noqa: ARG001 - moto's signature
    return PermissionResult.NEUTRAL
