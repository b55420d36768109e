"""S3 bucket policies, stored and not enforced, and replication configurations, returned as they were put.

moto enforces policies without their conditions, so the statement that denies plain HTTP, which the CDK adds for
`enforce_ssl`, would deny all access to a bucket. It returns a replication rule with a different filter.
Nothing is copied here.
"""

import functools
from collections.abc import Callable
from typing import Any

from moto.core.responses import ActionResult
from moto.iam.access_control import PermissionResult
from moto.s3.models import FakeBucket
from moto.s3.responses import S3Response

__all__ = ["install"]


def install() -> None:
    """Disable the enforcement of bucket policies, and return replication configurations unchanged."""
    FakeBucket.get_permission = _neutral
    # Some published templates enable logging to a bucket before its policy allows it (aws-samples/aws-hpc-recipes, whisper_transcription).
    FakeBucket._log_permissions_enabled_policy = staticmethod(_allowed)  # noqa: SLF001 - moto asks for it here
    S3Response.get_bucket_replication = _shown_as_put(S3Response.get_bucket_replication)


def _allowed(**_: Any) -> bool:
    return True


def _neutral(bucket: Any, action: str, resource: str) -> PermissionResult:  # noqa: ARG001 - moto's signature
    return PermissionResult.NEUTRAL


def _shown_as_put(original: Callable[[Any], Any]) -> Callable[[Any], Any]:
    @functools.wraps(original)
    def get_bucket_replication(response: Any) -> Any:
        kept = response.backend.get_bucket_replication(response.bucket_name)
        if not kept:
            return original(response)  # raises if there is no configuration
        response.data["Action"] = "GetBucketReplication"
        rules = [{**rule, "Priority": int(rule["Priority"])} for rule in kept["Rule"]]
        shown = {"ReplicationConfiguration": {"Role": kept["Role"], "Rules": rules}}
        return response.serialized(ActionResult(shown))

    return get_bucket_replication
