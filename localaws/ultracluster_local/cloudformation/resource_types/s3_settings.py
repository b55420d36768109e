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


_RENAMED = {
    "Transitions": {"TransitionInDays": "Days", "TransitionDate": "Date"},
    "NoncurrentVersionTransitions": {"TransitionInDays": "NoncurrentDays"},
}
_EXPIRATIONS = {
    "ExpirationInDays": "Days",
    "ExpirationDate": "Date",
    "ExpiredObjectDeleteMarker": "ExpiredObjectDeleteMarker",
}
_FILTERS = {
    "Prefix": "Prefix",
    "TagFilters": "Tags",
    "ObjectSizeGreaterThan": "ObjectSizeGreaterThan",
    "ObjectSizeLessThan": "ObjectSizeLessThan",
}
_AS_THEY_ARE = {"Id", "Status", "NoncurrentVersionExpiration", "AbortIncompleteMultipartUpload"}


def _lifecycle_rule(rule: Mapping[str, Any]) -> dict[str, Any]:
    if unknown := rule.keys() - {*_RENAMED, *_EXPIRATIONS, *_FILTERS, *_AS_THEY_ARE}:
        raise ResourceError(f"The local AWS does not support {sorted(unknown)} of a lifecycle rule")
    result = {name: part for name, part in rule.items() if name in _AS_THEY_ARE - {"Id"}}
    result["ID"] = rule.get("Id") or uuid.uuid4().hex
    chosen = {theirs: rule[ours] for ours, theirs in _FILTERS.items() if ours in rule}
    result["Filter"] = {"And": chosen} if chosen.keys() - {"Prefix"} else {"Prefix": rule.get("Prefix", "")}
    for name, names in _RENAMED.items():
        if name in rule:
            result[name] = [{names.get(key, key): part for key, part in one.items()} for one in rule[name]]
    expiration = {theirs: rule[ours] for ours, theirs in _EXPIRATIONS.items() if ours in rule}
    return result | ({"Expiration": expiration} if expiration else {})


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
