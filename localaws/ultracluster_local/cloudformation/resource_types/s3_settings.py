"""Settings of S3 buckets: conversion from CloudFormation's form to the API's, and the operations that put them."""

import re
import uuid
from collections.abc import Callable, Mapping
from typing import Any

from ultracluster_local.cloudformation.errors import ResourceError
from ultracluster_local.cloudformation.providers import Setting

__all__ = ["READ_SETTINGS", "SETTINGS"]


def _lifecycle(value: Mapping[str, Any]) -> dict[str, Any]:
    return {"LifecycleConfiguration": {"Rules": [_lifecycle_rule(rule) for rule in value["Rules"]]}}


def _lifecycle_rule(rule: Mapping[str, Any]) -> dict[str, Any]:
    known = {
        "Id",
        "Status",
        "Prefix",
        "Transitions",
        "ExpirationDate",
        "ExpirationInDays",
        "ExpiredObjectDeleteMarker",
        "NoncurrentVersionExpiration",
        "NoncurrentVersionTransitions",
        "AbortIncompleteMultipartUpload",
    }
    if set(rule) - known:
        raise ResourceError(f"The local AWS does not support {sorted(set(rule) - known)} of a lifecycle rule")
    result: dict[str, Any] = {
        "ID": rule.get("Id") or uuid.uuid4().hex,
        "Status": rule["Status"],
        "Filter": {"Prefix": rule.get("Prefix", "")},
    }
    if "Transitions" in rule:
        result["Transitions"] = [
            {
                "StorageClass": one["StorageClass"],
                **(
                    {"Date": one["TransitionDate"]}
                    if "TransitionDate" in one
                    else {"Days": int(one["TransitionInDays"])}
                ),
            }
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
    if "ExpirationDate" in rule:
        expiration["Date"] = rule["ExpirationDate"]
    if "ExpiredObjectDeleteMarker" in rule:
        expiration["ExpiredObjectDeleteMarker"] = str(rule["ExpiredObjectDeleteMarker"]).lower() == "true"
    if expiration:
        result["Expiration"] = expiration
    for name in ("NoncurrentVersionExpiration", "AbortIncompleteMultipartUpload"):
        if name in rule:
            result[name] = {key: int(part) for key, part in rule[name].items()}
    return result


def _encryption(value: Mapping[str, Any]) -> dict[str, Any]:
    rules = [
        {
            ("ApplyServerSideEncryptionByDefault" if key == "ServerSideEncryptionByDefault" else key): part
            for key, part in rule.items()
        }
        for rule in value["ServerSideEncryptionConfiguration"]
    ]
    return {"ServerSideEncryptionConfiguration": {"Rules": rules}}


def _replication(value: Mapping[str, Any]) -> dict[str, Any]:
    rules = []
    for index, rule in enumerate(value["Rules"]):
        one = {key: part for key, part in rule.items() if key != "Id"}
        one["ID"] = rule.get("Id") or f"rule-{index + 1}"
        if (
            "Filter" in one
        ):  # rules with a Prefix have the first version of the schema, which has no priorities
            one["Priority"] = int(rule.get("Priority", index + 1))
        rules.append(one)
    return {"ReplicationConfiguration": {"Role": value["Role"], "Rules": rules}}


_NOTIFICATIONS = {
    "LambdaConfigurations": ("LambdaFunctionConfigurations", "Function", "LambdaFunctionArn"),
    "QueueConfigurations": ("QueueConfigurations", "Queue", "QueueArn"),
    "TopicConfigurations": ("TopicConfigurations", "Topic", "TopicArn"),
}


def _notification(value: Mapping[str, Any]) -> dict[str, Any]:
    result: dict[str, Any] = {"EventBridgeConfiguration": {}} if "EventBridgeConfiguration" in value else {}
    for name in set(value) - {"EventBridgeConfiguration"}:
        kind, source, target = _NOTIFICATIONS[name]
        result[kind] = [_notified(one, source, target) for one in value[name]]
    return {"NotificationConfiguration": result}


def _notified(one: Mapping[str, Any], source: str, target: str) -> dict[str, Any]:
    result: dict[str, Any] = {target: one[source], "Events": [one["Event"]]}
    if "Filter" in one:
        result["Filter"] = {"Key": {"FilterRules": list(one["Filter"]["S3Key"]["Rules"])}}
    return result


def _as_is(value: Any) -> Any:
    return value


def _canned(value: str) -> dict[str, str]:
    """Convert ``LogDeliveryWrite`` to ``log-delivery-write``."""
    return {"ACL": re.sub(r"(?<=[a-z])(?=[A-Z])", "-", value).lower()}


def _logging(value: Mapping[str, Any]) -> dict[str, Any]:
    target = {"TargetBucket": value["DestinationBucketName"], "TargetPrefix": value.get("LogFilePrefix", "")}
    return {"BucketLoggingStatus": {"LoggingEnabled": target}}


SETTINGS: Mapping[str, Setting] = {
    # Before what they allow: replication needs versioning, and an ACL a bucket that takes one.
    "VersioningConfiguration": Setting(put="PutBucketVersioning", absent={"Status": "Suspended"}),
    "OwnershipControls": Setting(put="PutBucketOwnershipControls", remove="DeleteBucketOwnershipControls"),
    "AccessControl": Setting(put="PutBucketAcl", sent=_canned),
    "PublicAccessBlockConfiguration": Setting(put="PutPublicAccessBlock", remove="DeletePublicAccessBlock"),
    "BucketEncryption": Setting(put="PutBucketEncryption", sent=_encryption, remove="DeleteBucketEncryption"),
    "LifecycleConfiguration": Setting(
        put="PutBucketLifecycleConfiguration", sent=_lifecycle, remove="DeleteBucketLifecycle"
    ),
    "ReplicationConfiguration": Setting(
        put="PutBucketReplication", sent=_replication, remove="DeleteBucketReplication"
    ),
    "NotificationConfiguration": Setting(put="PutBucketNotificationConfiguration", sent=_notification),
    "LoggingConfiguration": Setting(put="PutBucketLogging", sent=_logging),
    "Tags": Setting(
        put="PutBucketTagging",
        sent=lambda value: {"Tagging": {"TagSet": list(value)}},
        remove="DeleteBucketTagging",
    ),
}


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


def _shown_metrics(answer: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    shown = [
        {"Id": one["Id"], **({"Prefix": one["Filter"]["Prefix"]} if "Filter" in one else {})}
        for one in answer.get("MetricsConfigurationList", [])
    ]
    return shown or None


READ_SETTINGS: tuple[tuple[str, str, Callable[[Mapping[str, Any]], Any]], ...] = (
    ("VersioningConfiguration", "GetBucketVersioning", _as_is),
    (
        "PublicAccessBlockConfiguration",
        "GetPublicAccessBlock",
        lambda answer: answer["PublicAccessBlockConfiguration"],
    ),
    ("Tags", "GetBucketTagging", lambda answer: answer["TagSet"]),
    ("BucketEncryption", "GetBucketEncryption", _shown_encryption),
    ("LifecycleConfiguration", "GetBucketLifecycleConfiguration", _shown_lifecycle),
    ("MetricsConfigurations", "ListBucketMetricsConfigurations", _shown_metrics),
    ("ReplicationConfiguration", "GetBucketReplication", _shown_replication),
)
"""Property, operation that reads it, and conversion of its response to CloudFormation's form."""
