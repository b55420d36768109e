"""Bucket names, tags, policies and configurations as Amazon S3 checks them.

https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html and the pages of the operations in
https://docs.aws.amazon.com/AmazonS3/latest/API/
"""

import itertools
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from typing import Any

from moto.awslambda.models import lambda_backends
from moto.s3.models import s3_backends
from moto.sns.models import sns_backends
from moto.sqs.models import sqs_backends

from ultracluster_local.instance.clock import CLOCK
from ultracluster_local.instance.environment import ACCOUNT
from ultracluster_local.services.checks import Checks
from ultracluster_local.services.handlers import Request, ServiceError
from ultracluster_local.services.iam.policy_grammar import (
    as_list,
    document,
    lets_service,
    missing_principal,
    statements,
)

__all__: list[str] = []

_check = Checks(service="s3")

_GRANTS = ("GrantFullControl", "GrantRead", "GrantReadACP", "GrantWrite", "GrantWriteACP")
_MALFORMED = "The XML you provided was not well-formed or did not validate against our published schema"


def _bucket(request: Request) -> Any:
    return s3_backends[ACCOUNT]["aws"].buckets.get(request.parameters["Bucket"])


def _malformed_xml() -> ServiceError:
    return ServiceError("MalformedXML", _MALFORMED)


def _invalid(message: str) -> ServiceError:
    return ServiceError("InvalidArgument", message)


# Buckets


@_check("CreateBucket")
def check_create_bucket(request: Request) -> None:
    """Refuse another place, and ACLs for a bucket on which they are disabled."""
    ownership = request.parameters.get("ObjectOwnership")
    place = (request.parameters.get("CreateBucketConfiguration") or {}).get("LocationConstraint")
    if place and request.region not in {"us-east-1", place}:  # us-east-1 makes buckets of every Region
        problem = (
            "location constraint is incompatible for the region specific endpoint this request was sent to."
        )
        raise ServiceError("IllegalLocationConstraintException", f"The {place} {problem}")
    acl = request.parameters.get("ACL", "private")
    if acl != "private" and ownership in {None, "BucketOwnerEnforced"}:
        # Since April 2023: https://docs.aws.amazon.com/AmazonS3/latest/userguide/about-object-ownership.html
        problem = "Bucket cannot have ACLs set with ObjectOwnership's BucketOwnerEnforced setting"
        raise ServiceError("InvalidBucketAclWithObjectOwnership", problem)


@_check("PutBucketAcl", "PutObjectAcl", "PutObject", "CopyObject", "CreateMultipartUpload")
def check_acl(request: Request) -> None:
    """Refuse an ACL where ACLs are disabled: AmazonS3/latest/userguide/about-object-ownership.html."""
    bucket, given = _bucket(request), request.parameters
    owner, granted = (
        given.get("ACL", "private") in {"private", "bucket-owner-full-control"},
        any(given.get(name) for name in _GRANTS),
    )
    if (
        bucket is not None
        and bucket.ownership_rule == "BucketOwnerEnforced"
        and owner == granted
        and not (granted and given.get("ACL"))
    ):
        raise ServiceError("AccessControlListNotSupported", "The bucket does not allow ACLs")


@_check("DeleteBucket")
def check_delete_bucket(request: Request) -> None:
    """Refuse a bucket that still has versions."""
    bucket = _bucket(request)
    if bucket is not None and bucket.versioning_status and any(True for _ in bucket.keys.values()):
        problem = "The bucket you tried to delete is not empty. You must delete all versions in the bucket."
        raise ServiceError("BucketNotEmpty", problem)


@_check("PutBucketVersioning")
def check_put_bucket_versioning(request: Request) -> None:
    """Refuse to suspend versioning under Object Lock or replication."""
    bucket, status = _bucket(request), (request.parameters["VersioningConfiguration"] or {}).get("Status")
    if status is None:
        problem = "The Versioning element must be specified"
        raise ServiceError("IllegalVersioningConfigurationException", problem)
    if bucket is None or status != "Suspended":
        return
    if bucket.object_lock_enabled:
        problem = "An Object Lock configuration is present on this bucket, so the versioning state cannot be changed."
        raise ServiceError("InvalidBucketState", problem)
    if getattr(bucket, "replication", None):  # moto sets the attribute with the first configuration
        problem = "A replication configuration is present on this bucket, so the versioning state cannot be changed."
        raise ServiceError("InvalidBucketState", problem)


@_check("PutBucketEncryption")
def check_put_bucket_encryption(request: Request) -> None:
    """Refuse a key beside SSE-S3."""
    rules = request.parameters["ServerSideEncryptionConfiguration"].get("Rules") or []
    default = (rules[0] if rules else {}).get("ApplyServerSideEncryptionByDefault") or {}
    if default.get("KMSMasterKeyID") and default.get("SSEAlgorithm") not in {"aws:kms", "aws:kms:dsse"}:
        problem = (
            "a KMSMasterKeyID is not applicable if the default sse algorithm is not aws:kms or aws:kms:dsse"
        )
        raise _invalid(problem)


@_check("PutBucketLogging")
def check_put_bucket_logging(request: Request) -> None:
    """Refuse a target that does not exist, or is in another Region."""
    enabled = (request.parameters.get("BucketLoggingStatus") or {}).get("LoggingEnabled")
    if not enabled:
        return
    source, target = _bucket(request), s3_backends[ACCOUNT]["aws"].buckets.get(enabled["TargetBucket"])
    if target is None:
        problem = "The target bucket for logging does not exist"
        raise ServiceError("InvalidTargetBucketForLogging", problem)
    if source is not None and source.region_name != target.region_name:
        raise ServiceError("CrossLocationLoggingProhibitted", "Cross S3 location logging not allowed. ")


# Replication


@_check("PutBucketReplication")
def check_put_bucket_replication(request: Request) -> None:
    """Refuse buckets without versions, and destinations that do not exist.

    https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketReplication.html
    """
    bucket, configuration = _bucket(request), request.parameters["ReplicationConfiguration"]
    if bucket is not None and bucket.versioning_status != "Enabled":
        problem = "Versioning must be 'Enabled' on the bucket to apply a replication configuration"
        raise ServiceError("InvalidRequest", problem)
    rules = configuration.get("Rules") or []
    for rule in rules:
        name = rule["Destination"]["Bucket"].rpartition(":")[2]
        target = s3_backends[ACCOUNT]["aws"].buckets.get(name)
        if target is None:
            raise ServiceError("InvalidRequest", "Destination bucket must exist.")
        if target.versioning_status != "Enabled":
            raise ServiceError("InvalidRequest", "Destination bucket must have versioning enabled.")
        if "Filter" in rule and "DeleteMarkerReplication" not in rule:
            problem = "DeleteMarkerReplication must be specified for this version of Cross Region Replication configuration schema."
            raise ServiceError("InvalidRequest", problem)


# Life cycle

_LEAST_DAYS_IN_STANDARD = {"STANDARD_IA": 30, "ONEZONE_IA": 30}
_ACTIONS = (
    "Expiration",
    "Transitions",
    "NoncurrentVersionExpiration",
    "NoncurrentVersionTransitions",
    "AbortIncompleteMultipartUpload",
)


@_check("PutBucketLifecycleConfiguration")
def check_put_bucket_lifecycle_configuration(request: Request) -> None:
    """Refuse rules that cannot be applied.

    https://docs.aws.amazon.com/AmazonS3/latest/userguide/lifecycle-transition-general-considerations.html
    """
    rules = (request.parameters.get("LifecycleConfiguration") or {}).get("Rules") or []
    if not rules:
        raise _malformed_xml()
    for rule in rules:
        if "Filter" not in rule and "Prefix" not in rule:
            raise _malformed_xml()
        if any("Date" in one and "Days" in one for one in rule.get("Transitions") or []):
            raise _malformed_xml()
        if not any(rule.get(name) for name in _ACTIONS):
            raise ServiceError("InvalidRequest", "At least one action needs to be specified in a rule")
        _check_rule_tags(rule)
        for problem in (*_date_problems(rule), *_day_problems(rule)):
            raise _invalid(problem)
    if (bucket := _bucket(request)) is not None:
        least = request.parameters.get("TransitionDefaultMinimumObjectSize", "all_storage_classes_128K")
        bucket.lifecycle_as_put = {"Rules": rules, "TransitionDefaultMinimumObjectSize": least}


def _check_rule_tags(rule: Mapping[str, Any]) -> None:
    found = rule.get("Filter") or {}
    tags = [*((found.get("And") or {}).get("Tags") or []), *([found["Tag"]] if found.get("Tag") else [])]
    if len({tag["Key"] for tag in tags}) < len(tags):
        raise ServiceError("InvalidRequest", "Duplicate Tag Keys are not allowed.")
    if tags and rule.get("AbortIncompleteMultipartUpload"):
        raise ServiceError("InvalidRequest", "AbortIncompleteMultipartUpload cannot be specified with Tags.")


def _date_problems(rule: Mapping[str, Any]) -> Iterator[str]:
    transitions = rule.get("Transitions") or []
    actions = [rule.get("Expiration") or {}, *transitions]
    for date in filter(None, (action.get("Date") for action in actions)):
        moment = _moment(date)
        if (moment.hour, moment.minute, moment.second) != (0, 0, 0):
            yield "'Date' must be at midnight GMT"
    if any("Date" in action for action in actions) and any("Days" in action for action in actions):
        where = f"for filter '{_filter(rule)}'"
        yield f"Found mixed 'Date' and 'Days' based Expiration and Transition actions in lifecycle rule {where}"


def _moment(date: Any) -> datetime:
    moment = date if isinstance(date, datetime) else datetime.fromisoformat(str(date))
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _day_problems(rule: Mapping[str, Any]) -> Iterator[str]:
    transitions, expiration = rule.get("Transitions") or [], rule.get("Expiration") or {}
    if expiration.get("Days") is not None and expiration["Days"] < 1:
        yield "'Days' for Expiration action must be a positive integer"
    for name, days in (("Transitions", "Days"), ("NoncurrentVersionTransitions", "NoncurrentDays")):
        action = name.removesuffix("s")
        for one in rule.get(name) or []:
            least = _LEAST_DAYS_IN_STANDARD.get(one.get("StorageClass"), 0)
            if one.get(days) is not None and one[days] < least:
                yield f"'{days}' in {action} action must be greater than or equal to {least} for storageClass '{one['StorageClass']}'"
    latest = max((one["Days"] for one in transitions if one.get("Days") is not None), default=None)
    if latest is not None and expiration.get("Days") is not None and expiration["Days"] <= latest:
        where = f"for filter '{_filter(rule)}'"
        yield f"'Days' in the Expiration action {where} must be greater than 'Days' in the Transition action"
    noncurrent = rule.get("NoncurrentVersionExpiration")
    if noncurrent is not None and (noncurrent.get("NoncurrentDays") or 0) < 1:
        yield "'NoncurrentDays' for NoncurrentVersionExpiration action must be a positive integer"


def _filter(rule: Mapping[str, Any]) -> str:
    return f"(prefix={(rule.get('Filter') or {}).get('Prefix', rule.get('Prefix', ''))})"


# Notifications


@_check("PutBucketNotificationConfiguration")
def check_put_bucket_notification_configuration(request: Request) -> None:
    """Refuse destinations that S3 cannot reach, and invalid filters."""
    wanted = request.parameters.get("NotificationConfiguration") or {}
    _refuse_overlaps([one for part in wanted.values() if isinstance(part, list) for one in part])
    for kind, target in (
        ("LambdaFunctionConfigurations", "LambdaFunctionArn"),
        ("QueueConfigurations", "QueueArn"),
        ("TopicConfigurations", "TopicArn"),
    ):
        for one in wanted.get(kind) or []:
            for rule in ((one.get("Filter") or {}).get("Key") or {}).get("FilterRules") or []:
                if rule["Name"].lower() not in {"prefix", "suffix"}:
                    raise _invalid("filter rule name must be either prefix or suffix")
            if not one[target].startswith("arn:"):
                raise _invalid("The ARN could not be parsed")
            if not lets_service(document(_policy_of(one[target]) or ""), ["s3.amazonaws.com"]):
                raise _invalid("Unable to validate the following destination configurations")


def _refuse_overlaps(rules: list[Mapping[str, Any]]) -> None:
    """Refuse two rules of one event whose prefixes and suffixes overlap.

    https://docs.aws.amazon.com/AmazonS3/latest/userguide/notification-how-to-filtering.html (read 2026-11-22).
    """
    for one, other in itertools.combinations(rules, 2):
        events = itertools.product(one.get("Events") or [], other.get("Events") or [])
        if not any(fnmatchcase(a, b) or fnmatchcase(b, a) for a, b in events):
            continue
        (prefix, suffix), (second, ending) = _affixes(one), _affixes(other)
        prefixed = prefix.startswith(second) or second.startswith(prefix)
        if prefixed and (suffix.endswith(ending) or ending.endswith(suffix)):
            raise _invalid(
                "Configuration is ambiguously defined. Cannot have overlapping suffixes in two rules if the prefixes are "
                "overlapping for the same event type."
            )


def _affixes(rule: Mapping[str, Any]) -> tuple[str, str]:
    rules = ((rule.get("Filter") or {}).get("Key") or {}).get("FilterRules") or []
    values = {one["Name"].lower(): one.get("Value", "") for one in rules}
    return values.get("prefix", ""), values.get("suffix", "")


def _policy_of(arn: str) -> str | None:
    """Return the resource policy of a function, queue or topic; None if it has none or does not exist."""
    _, _, service, region, _, name = arn.split(":", 5)
    if service == "lambda":
        found = [
            one
            for one in lambda_backends[ACCOUNT][region].list_functions()
            if one.function_name == name.removeprefix("function:").split(":")[0]
        ]
        return found[0].policy.wire_format() if found and found[0].policy else None
    if service == "sqs":
        queue = sqs_backends[ACCOUNT][region].queues.get(name)
        policy = getattr(queue, "policy", None)
        return policy if isinstance(policy, str) or policy is None else str(policy)
    topic = sns_backends[ACCOUNT][region].topics.get(arn)
    return topic.policy if topic is not None else None


# Policies

_OBJECT_ACTIONS = re.compile(
    r"(Get|Put|Delete)Object|AbortMultipartUpload|BypassGovernanceRetention|ListMultipartUploadParts|"
    r"ObjectOwnerOverrideToBucketOwner|Replicate(Object|Delete|Tags)|RestoreObject|UpdateObjectEncryption"
)
"""Actions on objects: https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazons3.html"""

_ONLY_WHEN_LISTING = frozenset({"s3:prefix", "s3:delimiter", "s3:max-keys"})


# Objects: the words are those that AWS answered to localstack/localstack, tests/aws/services/s3 (2026-02-21)


@_check("DeleteObject")
def check_delete_object(request: Request) -> None:
    """Refuse to pass a retention that cannot be."""
    bucket = _bucket(request)
    if bucket is None:
        return
    if request.parameters.get("BypassGovernanceRetention") and not bucket.object_lock_enabled:
        raise _invalid("x-amz-bypass-governance-retention is only applicable to Object Lock enabled buckets.")


@_check("PutObject", "CopyObject", "CreateMultipartUpload", "PutObjectRetention")
def check_retention(request: Request) -> None:
    """Refuse a retention that cannot be, or is less than that of the object: localstack/localstack, test_s3.snapshot.json."""
    given, bucket = request.parameters, _bucket(request)
    retention = given.get("Retention") or {}
    mode = given.get("ObjectLockMode") or retention.get("Mode")
    until = given.get("ObjectLockRetainUntilDate") or retention.get("RetainUntilDate")
    if (mode is None) != (until is None):
        problem = "x-amz-object-lock-retain-until-date and x-amz-object-lock-mode must both be supplied"
        raise _invalid(problem)
    if until is not None and _moment(until) < CLOCK.now():
        raise _invalid("The retain until date must be in the future!")
    if request.operation != "PutObjectRetention" or bucket is None:
        return
    key = s3_backends[ACCOUNT]["aws"].get_object(bucket.name, given["Key"], version_id=given.get("VersionId"))
    held = (
        key
        and key.lock_until
        and (key.lock_mode == "COMPLIANCE" or not given.get("BypassGovernanceRetention"))
    )
    if held and (until is None or mode != key.lock_mode or _moment(until) < _moment(key.lock_until)):
        raise ServiceError("AccessDenied", "Access Denied because object protected by object lock.")


@_check("PutBucketPolicy")
def check_put_bucket_policy(request: Request) -> None:
    """Refuse an invalid policy, or one whose statements cannot apply to the bucket."""
    text, bucket = request.parameters["Policy"], request.parameters["Bucket"]
    policy = document(text)
    if policy is None:
        raise _malformed_policy("Policies must be valid JSON and the first byte must be '{'")
    if "Statement" not in policy:
        raise _malformed_policy("Missing required field Statement")
    for statement in statements(policy):
        _check_statement(statement, bucket)
    if missing_principal(policy):
        raise _malformed_policy("Invalid principal in policy")


def _malformed_policy(message: str) -> ServiceError:
    return ServiceError("MalformedPolicy", message)


def _check_statement(statement: Mapping[str, Any], bucket: str) -> None:
    for name in ("Effect", "Principal", "Action", "Resource"):
        if name not in statement and f"Not{name}" not in statement:
            # All but the words for a resource: badmintoncryer/cdk-preflight.
            words = {"Resource": "Statement is missing required element"}
            raise _malformed_policy(words.get(name, f"Missing required field {name}"))
    resources = [str(one) for one in as_list(statement.get("Resource"))]
    for resource in resources:
        named = resource.rpartition(":::")[2].partition("/")[0]
        if resource != "*" and not (":::" in resource and fnmatchcase(bucket, named)):
            raise _malformed_policy("Policy has invalid resource")
    actions = [str(one) for one in as_list(statement.get("Action"))]
    for action in actions:
        if not re.match(r"(?i)s3[\w-]*:.|\*$", action):
            raise _malformed_policy("Policy has invalid action")
        if resources and not _applies(action, resources):
            raise _malformed_policy("Action does not apply to any resource(s) in statement")
    keys = {key for tests in (statement.get("Condition") or {}).values() for key in tests}
    listing = any("*" in action or action.lower().startswith("s3:list") for action in actions)
    if keys & _ONLY_WHEN_LISTING and actions and not listing:
        raise _malformed_policy(
            "Conditions do not apply to combination of actions and resources in statement"
        )


def _applies(action: str, resources: list[str]) -> bool:
    name = action.partition(":")[2]
    on_objects = bool(_OBJECT_ACTIONS.match(name))
    for resource in resources:
        path = resource.rpartition(":::")[2]
        either = "*" in name or resource == "*" or path.partition("/")[0].endswith("*")
        if either or ("/" in path) == on_objects:
            return True
    return False
