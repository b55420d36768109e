"""S3 buckets and their policies."""

import json
import uuid
from collections.abc import Callable, Mapping
from typing import Any

from botocore.exceptions import ClientError

from ultracluster_local.clients import service_model
from ultracluster_local.cloudformation.errors import ResourceError
from ultracluster_local.cloudformation.providers import Context, Provider
from ultracluster_local.cloudformation.values import Properties, changed_keys, to_api

__all__ = ["PROVIDERS"]


def _lifecycle(value: Mapping[str, Any]) -> dict[str, Any]:
    return {"Rules": [_lifecycle_rule(rule) for rule in value["Rules"]]}


def _lifecycle_rule(rule: Mapping[str, Any]) -> dict[str, Any]:
    known = {
        "Id",
        "Status",
        "Prefix",
        "Transitions",
        "ExpirationInDays",
        "ExpiredObjectDeleteMarker",
        "NoncurrentVersionExpiration",
        "NoncurrentVersionTransitions",
        "AbortIncompleteMultipartUpload",
    }
    if set(rule) - known:
        raise ResourceError(f"The local AWS does not carry {sorted(set(rule) - known)} of a lifecycle rule")
    result: dict[str, Any] = {
        "ID": rule.get("Id") or uuid.uuid4().hex,
        "Status": rule["Status"],
        "Filter": {"Prefix": rule.get("Prefix", "")},
    }
    if "Transitions" in rule:
        result["Transitions"] = [
            {"Days": int(one["TransitionInDays"]), "StorageClass": one["StorageClass"]}
            for one in rule["Transitions"]
        ]
    if "NoncurrentVersionTransitions" in rule:
        result["NoncurrentVersionTransitions"] = [
            {"NoncurrentDays": int(one["TransitionInDays"]), "StorageClass": one["StorageClass"]}
            for one in rule["NoncurrentVersionTransitions"]
        ]
    expiration: dict[str, Any] = {}
    if "ExpirationInDays" in rule:
        expiration["Days"] = int(rule["ExpirationInDays"])
    if "ExpiredObjectDeleteMarker" in rule:
        expiration["ExpiredObjectDeleteMarker"] = str(rule["ExpiredObjectDeleteMarker"]).lower() == "true"
    if expiration:
        result["Expiration"] = expiration
    for name in ("NoncurrentVersionExpiration", "AbortIncompleteMultipartUpload"):
        if name in rule:
            result[name] = {key: int(part) for key, part in rule[name].items()}
    return result


def _encryption(value: Mapping[str, Any]) -> dict[str, Any]:
    rules = []
    for rule in value["ServerSideEncryptionConfiguration"]:
        default = rule["ServerSideEncryptionByDefault"]
        one: dict[str, Any] = {"ApplyServerSideEncryptionByDefault": dict(default)}
        if "BucketKeyEnabled" in rule:
            one["BucketKeyEnabled"] = str(rule["BucketKeyEnabled"]).lower() == "true"
        rules.append(one)
    return {"Rules": rules}


def _replication(value: Mapping[str, Any]) -> dict[str, Any]:
    rules = []
    for index, rule in enumerate(value["Rules"]):
        one = {key: part for key, part in rule.items() if key not in {"Id", "Prefix"}}
        one["ID"] = rule.get("Id") or f"rule-{index + 1}"
        one["Priority"] = int(rule.get("Priority", index + 1))
        if "Filter" not in one:
            one["Filter"] = {"Prefix": rule.get("Prefix", "")}
        rules.append(one)
    return {"Role": value["Role"], "Rules": rules}


def _check_destinations(context: Context, value: Mapping[str, Any]) -> None:
    """Refuse copies to a bucket that is not there or has no versions, as S3 does."""
    for rule in value["Rules"]:
        name = rule["Destination"]["Bucket"].rpartition(":")[2]
        try:
            status = context.call("s3", "GetBucketVersioning", {"Bucket": name}).get("Status")
        except ClientError as error:
            if error.response["Error"]["Code"] != "NoSuchBucket":
                raise
            raise ResourceError(f"Destination bucket must exist: {name}") from None
        if status != "Enabled":
            raise ResourceError(f"Destination bucket must have versioning enabled: {name}")


def _notification(value: Mapping[str, Any]) -> dict[str, Any]:
    if set(value) - {"EventBridgeConfiguration"}:
        raise ResourceError("The local AWS carries EventBridge notifications of buckets only")
    return {"EventBridgeConfiguration": {}}


def _as_is(value: Any) -> Any:
    return value


# Property: put operation, its parameter, conversion, and the operation that removes the setting ("" for none).
_SETTINGS: dict[str, tuple[str, str, Callable[[Any], Any], str]] = {
    "VersioningConfiguration": ("PutBucketVersioning", "VersioningConfiguration", _as_is, ""),
    "PublicAccessBlockConfiguration": (
        "PutPublicAccessBlock",
        "PublicAccessBlockConfiguration",
        _as_is,
        "DeletePublicAccessBlock",
    ),
    "BucketEncryption": (
        "PutBucketEncryption",
        "ServerSideEncryptionConfiguration",
        _encryption,
        "DeleteBucketEncryption",
    ),
    "LifecycleConfiguration": (
        "PutBucketLifecycleConfiguration",
        "LifecycleConfiguration",
        _lifecycle,
        "DeleteBucketLifecycle",
    ),
    "ReplicationConfiguration": (
        "PutBucketReplication",
        "ReplicationConfiguration",
        _replication,
        "DeleteBucketReplication",
    ),
    "NotificationConfiguration": (
        "PutBucketNotificationConfiguration",
        "NotificationConfiguration",
        _notification,
        "",
    ),
    "OwnershipControls": (
        "PutBucketOwnershipControls",
        "OwnershipControls",
        _as_is,
        "DeleteBucketOwnershipControls",
    ),
    "LoggingConfiguration": (
        "PutBucketLogging",
        "BucketLoggingStatus",
        lambda value: {
            "LoggingEnabled": {
                "TargetBucket": value["DestinationBucketName"],
                "TargetPrefix": value.get("LogFilePrefix", ""),
            }
        },
        "",
    ),
    "AccelerateConfiguration": (
        "PutBucketAccelerateConfiguration",
        "AccelerateConfiguration",
        lambda value: {"Status": value["AccelerationStatus"]},
        "",
    ),
    "Tags": ("PutBucketTagging", "Tagging", lambda value: {"TagSet": list(value)}, "DeleteBucketTagging"),
}
_AT_CREATION = {"BucketName", "ObjectLockEnabled"}
_VERSIONING = "VersioningConfiguration"


class _Bucket(Provider):
    """A bucket; each setting is a call of its own."""

    def create(self, context: Context, properties: Properties) -> str:
        """Create, then set each setting."""
        bucket = properties.get("BucketName") or context.generated_name(limit=63, lower=True)
        request: dict[str, Any] = {"Bucket": bucket}
        if context.region != "us-east-1":
            request["CreateBucketConfiguration"] = {"LocationConstraint": context.region}
        if str(properties.get("ObjectLockEnabled", False)).lower() == "true":
            request["ObjectLockEnabledForBucket"] = True
        context.call("s3", "CreateBucket", request)
        try:
            # Versions first: S3 refuses replication without them.
            for name, value in sorted(properties.items(), key=lambda item: item[0] != _VERSIONING):
                if name not in _AT_CREATION:
                    self._set(context, bucket, name, value)
        except (ClientError, ResourceError):
            context.call("s3", "DeleteBucket", {"Bucket": bucket})
            raise
        return str(bucket)

    def _set(self, context: Context, bucket: str, name: str, value: Any) -> None:
        if name == "MetricsConfigurations":
            _set_metrics(context, bucket, value)
            return
        if name not in _SETTINGS:
            raise ResourceError(
                f"The local AWS does not carry {name} of AWS::S3::Bucket; see docs/local-aws.md."
            )
        if name == "ReplicationConfiguration":
            _check_destinations(context, value)
        operation, parameter, convert, _ = _SETTINGS[name]
        shape = service_model("s3").operation_model(operation).input_shape
        context.call("s3", operation, {"Bucket": bucket, **to_api(shape, {parameter: convert(value)})})

    def attributes(self, context: Context, physical_id: str, properties: Properties) -> Mapping[str, Any]:  # noqa: ARG002 - the name is all
        """Name it in the usual ways."""
        return {
            "Arn": f"arn:aws:s3:::{physical_id}",
            "DomainName": f"{physical_id}.s3.amazonaws.com",
            "RegionalDomainName": f"{physical_id}.s3.{context.region}.amazonaws.com",
            "DualStackDomainName": f"{physical_id}.s3.dualstack.{context.region}.amazonaws.com",
            "WebsiteURL": f"http://{physical_id}.s3-website-{context.region}.amazonaws.com",
        }

    def read(self, context: Context, physical_id: str, properties: Properties) -> Mapping[str, Any] | None:  # noqa: ARG002 - a provider's signature
        """Show the settings that S3 shows in the same form."""
        bucket = {"Bucket": physical_id}
        try:
            context.call("s3", "HeadBucket", bucket)
        except ClientError:
            return None
        shown: dict[str, Any] = {"BucketName": physical_id}
        for name, operation, pick in (
            ("VersioningConfiguration", "GetBucketVersioning", lambda answer: answer),
            (
                "PublicAccessBlockConfiguration",
                "GetPublicAccessBlock",
                lambda a: a["PublicAccessBlockConfiguration"],
            ),
            ("Tags", "GetBucketTagging", lambda answer: answer["TagSet"]),
            ("BucketEncryption", "GetBucketEncryption", _shown_encryption),
            ("LifecycleConfiguration", "GetBucketLifecycleConfiguration", _shown_lifecycle),
            ("MetricsConfigurations", "ListBucketMetricsConfigurations", _shown_metrics),
            ("ReplicationConfiguration", "GetBucketReplication", _shown_replication),
        ):
            try:
                shown[name] = pick(context.call("s3", operation, bucket))
            except ClientError:  # the setting is not there
                shown[name] = None
        return shown

    def update(self, context: Context, physical_id: str, old: Properties, new: Properties) -> str:
        """Set what changed, remove what is gone."""
        # Versions first, and last when they go: S3 refuses replication without them.
        keys = sorted(changed_keys(old, new), key=lambda key: (key != _VERSIONING) == (_VERSIONING in new))
        for name in keys:
            if name == "MetricsConfigurations":
                _set_metrics(context, physical_id, new.get(name) or [])
                continue
            if name in new:
                self._set(context, physical_id, name, new[name])
                continue
            remove = _SETTINGS[name][3]
            if remove:
                context.call("s3", remove, {"Bucket": physical_id})
            elif name == "VersioningConfiguration":
                self._set(context, physical_id, name, {"Status": "Suspended"})
            else:
                return super().update(context, physical_id, old, new)
        return physical_id

    def delete(self, context: Context, physical_id: str, properties: Properties) -> None:  # noqa: ARG002 - the name is all
        """Delete it, if it is empty."""
        try:
            context.call("s3", "DeleteBucket", {"Bucket": physical_id})
        except ClientError as error:
            if error.response["Error"]["Code"] != "NoSuchBucket":
                raise


def _shown_encryption(answer: Mapping[str, Any]) -> dict[str, Any]:
    rules = [
        {
            "ServerSideEncryptionByDefault": rule["ApplyServerSideEncryptionByDefault"],
            **{key: rule[key] for key in ("BucketKeyEnabled",) if key in rule},
        }
        for rule in answer["ServerSideEncryptionConfiguration"]["Rules"]
    ]
    return {"ServerSideEncryptionConfiguration": rules}


def _shown_lifecycle(answer: Mapping[str, Any]) -> dict[str, Any]:
    rules = []
    for rule in answer["Rules"]:
        one = {key: part for key, part in rule.items() if key not in {"Filter", "Transitions", "Expiration"}}
        one["Id"] = rule["ID"]
        one["Prefix"] = (rule.get("Filter") or {}).get("Prefix", "")
        if "Transitions" in rule:
            one["Transitions"] = [
                {"TransitionInDays": part.get("Days"), "StorageClass": part["StorageClass"]}
                for part in rule["Transitions"]
            ]
        if "Days" in (rule.get("Expiration") or {}):
            one["ExpirationInDays"] = rule["Expiration"]["Days"]
        rules.append(one)
    return {"Rules": rules}


def _shown_replication(answer: Mapping[str, Any]) -> dict[str, Any]:
    configuration = answer["ReplicationConfiguration"]
    rules = [
        {"Id" if key == "ID" else key: part for key, part in rule.items()} for rule in configuration["Rules"]
    ]
    return {"Role": configuration["Role"], "Rules": rules}


def _set_metrics(context: Context, bucket: str, wanted: list[Mapping[str, Any]]) -> None:
    """Put each configuration by its id, and remove those that are gone."""
    for configuration in wanted:
        if unknown := set(configuration) - {"Id", "Prefix"}:
            raise ResourceError(f"The local AWS does not carry {sorted(unknown)} of a metrics configuration")
        request = {
            "Bucket": bucket,
            "Id": configuration["Id"],
            "MetricsConfiguration": {"Id": configuration["Id"]},
        }
        if "Prefix" in configuration:
            request["MetricsConfiguration"]["Filter"] = {"Prefix": configuration["Prefix"]}
        context.call("s3", "PutBucketMetricsConfiguration", request)
    listed = context.call("s3", "ListBucketMetricsConfigurations", {"Bucket": bucket})
    kept = {configuration["Id"] for configuration in wanted}
    for configuration in listed.get("MetricsConfigurationList", []):
        if configuration["Id"] not in kept:
            request = {"Bucket": bucket, "Id": configuration["Id"]}
            context.call("s3", "DeleteBucketMetricsConfiguration", request)


def _shown_metrics(answer: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    shown = [
        {"Id": one["Id"], **({"Prefix": one["Filter"]["Prefix"]} if "Filter" in one else {})}
        for one in answer.get("MetricsConfigurationList", [])
    ]
    return shown or None


class _BucketPolicy(Provider):
    """The policy of a bucket. It is kept and shown, and not enforced."""

    def create(self, context: Context, properties: Properties) -> str:
        """Put it."""
        request = {"Bucket": properties["Bucket"], "Policy": json.dumps(properties["PolicyDocument"])}
        context.call("s3", "PutBucketPolicy", request)
        return str(properties["Bucket"])

    def read(self, context: Context, physical_id: str, properties: Properties) -> Mapping[str, Any] | None:  # noqa: ARG002 - the name is all
        """Get it."""
        try:
            text = context.call("s3", "GetBucketPolicy", {"Bucket": physical_id})["Policy"]
        except ClientError:
            return None
        return {"Bucket": physical_id, "PolicyDocument": json.loads(text)}

    def update(self, context: Context, physical_id: str, old: Properties, new: Properties) -> str:  # noqa: ARG002 - likewise
        """Put the new one."""
        return self.create(context, new)

    def delete(self, context: Context, physical_id: str, properties: Properties) -> None:  # noqa: ARG002 - likewise
        """Take it away."""
        try:
            context.call("s3", "DeleteBucketPolicy", {"Bucket": physical_id})
        except ClientError as error:
            if not error.response["Error"]["Code"].startswith("NoSuch"):
                raise


PROVIDERS: Mapping[str, Provider] = {"AWS::S3::Bucket": _Bucket(), "AWS::S3::BucketPolicy": _BucketPolicy()}
