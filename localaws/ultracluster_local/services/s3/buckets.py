"""S3 bucket policies, stored and not enforced, and replication configurations, returned as they were put.

moto enforces policies without their conditions, so the statement that denies plain HTTP, which the CDK adds for
`enforce_ssl`, would deny all access to a bucket. It returns a replication rule with a different filter.
Nothing is copied here.
"""

from typing import Any

from moto.core.responses import ActionResult
from moto.iam.access_control import PermissionResult
from moto.s3.models import FakeBucket
from moto.s3.responses import S3Response

from ultracluster_local.services.replacing import instead_of

__all__: list[str] = []


@instead_of(FakeBucket, "get_permission")
def _neutral(original: Any, bucket: Any, action: str, resource: str) -> PermissionResult:  # noqa: ARG001 - moto's signature
    return PermissionResult.NEUTRAL


@instead_of(FakeBucket, "_log_permissions_enabled_policy")
def _allowed(original: Any, *_: Any, **__: Any) -> bool:  # noqa: ARG001 - likewise
    """Let logs in: some published templates enable them before the policy of their bucket allows it.

    aws-samples/aws-hpc-recipes, whisper_transcription
    """
    return True


@instead_of(S3Response, "get_bucket_lifecycle")
def _get_bucket_lifecycle(original: Any, response: Any) -> Any:
    """Return the rules as they were put: moto leaves out sizes of objects."""
    answer, bucket = original(response), response.backend.get_bucket(response.bucket_name)
    put = vars(bucket).get("lifecycle_as_put", {})
    if len(put.get("Rules", ())) != len(bucket.rules):
        return answer
    rules = [{"ID": mine.id, **theirs} for mine, theirs in zip(bucket.rules, put["Rules"], strict=True)]
    return response.serialized(ActionResult({**put, "Rules": rules}))


@instead_of(S3Response, "get_bucket_replication")
def _get_bucket_replication(original: Any, response: Any) -> Any:
    kept = response.backend.get_bucket_replication(response.bucket_name)
    if not kept:
        return original(response)  # raises if there is no configuration
    response.data["Action"] = "GetBucketReplication"
    rules = [{**rule, "Priority": int(rule["Priority"])} for rule in kept["Rule"]]
    shown = {"ReplicationConfiguration": {"Role": kept["Role"], "Rules": rules}}
    return response.serialized(ActionResult(shown))
