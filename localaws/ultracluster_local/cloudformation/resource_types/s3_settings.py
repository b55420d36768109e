"""Settings of S3 buckets: conversion from CloudFormation's form to the API's, and the operations that put them."""

import re
import uuid
from collections.abc import Mapping
from typing import Any

from ultracluster_local.cloudformation.errors import ResourceError
from ultracluster_local.cloudformation.providers import Setting

__all__ = ["SETTINGS"]


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
