"""Bucket names and settings that S3 refuses."""

import base64
import hashlib
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.refusals import refusal

from ultracluster_local import ACCOUNT, LocalAws

pytestmark = pytest.mark.slow

ENABLED = {"VersioningConfiguration": {"Status": "Enabled"}}
OBJECTS = {"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::mine/*"}


@pytest.fixture
def s3(local_aws: LocalAws) -> Any:
    client = local_aws.client("s3")
    client.create_bucket(Bucket="mine")
    client.delete_public_access_block(Bucket="mine")  # so that public policies reach their own checks
    return client


def rule(**more: Any) -> dict[str, Any]:
    return {"ID": "r", "Status": "Enabled", "Filter": {"Prefix": "logs/"}, "Expiration": {"Days": 90}} | more


@pytest.mark.parametrize(
    "name", ["ab.", "a..b", "Mine", "my_bucket", "10.0.0.1", "xn--mine", "mine-s3alias", "a" * 64]
)
def test_a_bucket_has_a_name_of_s3(local_aws: LocalAws, name: str) -> None:
    client = local_aws.client("s3")

    assert refusal(client.create_bucket, Bucket=name)[0] == "InvalidBucketName"


def test_a_bucket_without_acls_has_no_public_one(s3: Any) -> None:
    assert (
        refusal(s3.create_bucket, Bucket="open", ACL="public-read")[0]
        == "InvalidBucketAclWithObjectOwnership"
    )
    s3.create_bucket(Bucket="open", ACL="public-read", ObjectOwnership="ObjectWriter")


def test_a_bucket_with_versions_is_not_deleted(s3: Any) -> None:
    s3.put_bucket_versioning(Bucket="mine", **ENABLED)
    s3.put_object(Bucket="mine", Key="a", Body=b"")
    s3.delete_object(Bucket="mine", Key="a")

    assert refusal(s3.delete_bucket, Bucket="mine")[0] == "BucketNotEmpty"


def test_versions_stay_under_object_lock(s3: Any) -> None:
    s3.create_bucket(Bucket="locked", ObjectLockEnabledForBucket=True)
    suspended = {"VersioningConfiguration": {"Status": "Suspended"}}

    assert refusal(s3.put_bucket_versioning, Bucket="locked", **suspended)[0] == "InvalidBucketState"
    s3.put_bucket_versioning(Bucket="mine", **suspended)


@pytest.mark.parametrize(
    ("call", "given", "code"),
    [
        ("put_bucket_ownership_controls", {"OwnershipControls": {"Rules": [{"ObjectOwnership": "Mine"}]}}, "MalformedXML"),
        ("put_bucket_encryption", {"ServerSideEncryptionConfiguration": {"Rules": [{"ApplyServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256", "KMSMasterKeyID": "k"}}]}}, "InvalidArgument"),
        ("put_bucket_tagging", {"Tagging": {"TagSet": [{"Key": "a", "Value": "1"}, {"Key": "a", "Value": "2"}]}}, "InvalidTag"),
        ("put_bucket_tagging", {"Tagging": {"TagSet": [{"Key": f"k{number}", "Value": ""} for number in range(51)]}}, "BadRequest"),
        ("put_bucket_tagging", {"Tagging": {"TagSet": [{"Key": "aws:mine", "Value": ""}]}}, "InvalidTag"),
        ("put_bucket_tagging", {"Tagging": {"TagSet": [{"Key": "a", "Value": "x" * 257}]}}, "InvalidTag"),
        ("put_bucket_logging", {"BucketLoggingStatus": {"LoggingEnabled": {"TargetBucket": "absent", "TargetPrefix": ""}}}, "InvalidTargetBucketForLogging"),
        ("put_bucket_notification_configuration", {"NotificationConfiguration": {"QueueConfigurations": [{"QueueArn": f"arn:aws:sqs:us-east-1:{ACCOUNT}:absent", "Events": ["s3:ObjectCreated:*"]}]}}, "InvalidArgument"),
    ],
)  # fmt: skip
def test_a_setting_that_s3_cannot_apply_is_refused(
    s3: Any, call: str, given: dict[str, Any], code: str
) -> None:
    assert refusal(getattr(s3, call), Bucket="mine", **given)[0] == code


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (rule(), ""),
        (rule(Transitions=[{"Days": 30, "StorageClass": "STANDARD_IA"}]), ""),
        (rule(Transitions=[{"Days": 29, "StorageClass": "STANDARD_IA"}]), "greater than or equal to 30 for storageClass 'STANDARD_IA'"),
        (rule(Transitions=[{"Days": 90, "StorageClass": "GLACIER"}]), "must be greater than 'Days' in the Transition action"),
        (rule(Expiration={"Days": 0}), "must be a positive integer"),
        (rule(Expiration={"Date": datetime(2030, 1, 1, 1, tzinfo=UTC)}), "'Date' must be at midnight GMT"),
        (rule(Expiration={"Date": datetime(2030, 1, 1, tzinfo=UTC)}, Transitions=[{"Days": 30, "StorageClass": "GLACIER"}]), "Found mixed 'Date' and 'Days'"),
        ({"ID": "r", "Status": "Enabled", "Filter": {"Prefix": ""}}, "At least one action needs to be specified"),
        ({"ID": "r", "Status": "Enabled", "Expiration": {"Days": 1}}, "not well-formed"),
        (rule(ID="r" * 256), "should not exceed allowed limit of 255"),
        (rule(Filter={"Tag": {"Key": "a", "Value": "b"}}, AbortIncompleteMultipartUpload={"DaysAfterInitiation": 1}), "cannot be specified with Tags."),
        (rule(Expiration={}, NoncurrentVersionExpiration={"NoncurrentDays": 0}), "must be a positive integer"),
    ],
)  # fmt: skip
def test_a_life_cycle_rule_can_be_applied(s3: Any, given: dict[str, Any], words: str) -> None:
    asked = {"Bucket": "mine", "LifecycleConfiguration": {"Rules": [given]}}

    if words:
        assert words in refusal(s3.put_bucket_lifecycle_configuration, **asked)[1]
    else:
        s3.put_bucket_lifecycle_configuration(**asked)


def test_life_cycle_rules_have_different_ids(s3: Any) -> None:
    asked = {"LifecycleConfiguration": {"Rules": [rule(), rule()]}}

    assert (
        "Rule ID must be unique." in refusal(s3.put_bucket_lifecycle_configuration, Bucket="mine", **asked)[1]
    )


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ({}, ""),
        ({"Action": "s3:*", "Resource": "arn:aws:s3:::mine"}, ""),
        ({"Action": "s3:ListBucket", "Resource": "arn:aws:s3:::mine", "Condition": {"StringLike": {"s3:prefix": "a"}}}, ""),
        ({"Resource": "arn:aws:s3:::other/*"}, "Policy has invalid resource"),
        ({"Resource": "arn:aws:s3:::mine"}, "Action does not apply to any resource(s) in statement"),
        ({"Action": "s3:ListBucket"}, "Action does not apply to any resource(s) in statement"),
        ({"Action": "sqs:SendMessage"}, "Policy has invalid action"),
        ({"Condition": {"StringLike": {"s3:prefix": "a"}}}, "Conditions do not apply to combination"),
        ({"Principal": {"AWS": f"arn:aws:iam::{ACCOUNT}:role/absent"}}, "Invalid principal in policy"),
        ({"Sid": "x" * 20 * 1024}, "the maximum policy size allowed is 20480 bytes"),
    ],
)  # fmt: skip
def test_a_policy_applies_to_its_bucket(s3: Any, statement: dict[str, Any], words: str) -> None:
    policy = json.dumps({"Version": "2012-10-17", "Statement": [OBJECTS | statement]})

    if words:
        assert words in refusal(s3.put_bucket_policy, Bucket="mine", Policy=policy)[1]
    else:
        s3.put_bucket_policy(Bucket="mine", Policy=policy)


def test_a_statement_names_who_may(s3: Any) -> None:
    statement = {key: part for key, part in OBJECTS.items() if key != "Principal"}
    policy = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    assert (
        refusal(s3.put_bucket_policy, Bucket="mine", Policy=policy)[1] == "Missing required field Principal"
    )


@pytest.mark.parametrize(
    ("text", "words"), [("{", "must be valid JSON"), ("{}", "Missing required field Statement")]
)
def test_a_policy_is_json_with_statements(s3: Any, text: str, words: str) -> None:
    assert words in refusal(s3.put_bucket_policy, Bucket="mine", Policy=text)[1]


def test_rules_of_replication_have_different_priorities(s3: Any) -> None:
    for name in ("mine", "there"):
        s3.create_bucket(Bucket=name)
        s3.put_bucket_versioning(Bucket=name, **ENABLED)
    one = {
        "Status": "Enabled",
        "Priority": 1,
        "Filter": {"Prefix": ""},
        "DeleteMarkerReplication": {"Status": "Disabled"},
        "Destination": {"Bucket": "arn:aws:s3:::there"},
    }
    configuration = {"Role": f"arn:aws:iam::{ACCOUNT}:role/r", "Rules": [one, one]}

    message = refusal(s3.put_bucket_replication, Bucket="mine", ReplicationConfiguration=configuration)[1]

    assert message == "Found duplicate priorities."


def notified(queue: str, event: str, **affixes: str) -> dict[str, Any]:
    rules = [{"Name": name, "Value": value} for name, value in affixes.items()]
    return {"QueueArn": queue, "Events": [event], "Filter": {"Key": {"FilterRules": rules}}}


@pytest.mark.parametrize(
    ("event", "affixes", "overlaps"),
    [
        ("s3:ObjectCreated:*", {}, True),
        ("s3:ObjectCreated:Put", {"prefix": "images/"}, True),
        ("s3:ObjectCreated:*", {"prefix": "images/old/"}, True),
        ("s3:ObjectCreated:*", {"prefix": "logs/"}, False),
        ("s3:ObjectCreated:*", {"prefix": "images/", "suffix": "g"}, True),
        ("s3:ObjectCreated:*", {"prefix": "images/", "suffix": "big.jpg"}, True),
        ("s3:ObjectCreated:*", {"prefix": "images/", "suffix": ".png"}, False),
        ("s3:ObjectCreated:*", {"prefix": "logs/", "suffix": ".jpg"}, False),
        ("s3:ObjectRemoved:*", {"prefix": "images/"}, False),
    ],
)
def test_two_rules_of_one_event_differ_so_that_no_object_is_in_both(
    s3: Any, local_aws: LocalAws, event: str, affixes: dict[str, str], overlaps: bool
) -> None:
    statement = {
        "Effect": "Allow",
        "Principal": {"Service": "s3.amazonaws.com"},
        "Action": "sqs:SendMessage",
        "Resource": "*",
    }
    policy = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    local_aws.client("sqs").create_queue(QueueName="queue", Attributes={"Policy": policy})
    queue = f"arn:aws:sqs:us-east-1:{ACCOUNT}:queue"
    rules = [
        notified(queue, "s3:ObjectCreated:*", prefix="images/", suffix=".jpg"),
        notified(queue, event, **affixes),
    ]
    asked = {"Bucket": "mine", "NotificationConfiguration": {"QueueConfigurations": rules}}

    if overlaps:
        assert (
            "overlapping suffixes in two rules"
            in refusal(s3.put_bucket_notification_configuration, **asked)[1]
        )
    else:
        s3.put_bucket_notification_configuration(**asked)
        kept = s3.get_bucket_notification_configuration(Bucket="mine")["QueueConfigurations"]
        assert [one["Events"] for one in kept] == [["s3:ObjectCreated:*"], [event]]


def test_a_tag_has_a_value_also_if_that_is_empty(s3: Any) -> None:
    s3.put_object(Bucket="mine", Key="a")
    for tags in ([{"Key": "a", "Value": ""}], [{"Key": "a", "Value": ""}, {"Key": "b", "Value": "1"}]):
        s3.put_bucket_tagging(Bucket="mine", Tagging={"TagSet": tags})
        s3.put_object_tagging(Bucket="mine", Key="a", Tagging={"TagSet": tags})

        assert s3.get_bucket_tagging(Bucket="mine")["TagSet"] == tags
        assert s3.get_object_tagging(Bucket="mine", Key="a")["TagSet"] == tags


def test_an_object_has_each_tag_once(s3: Any) -> None:
    s3.put_object(Bucket="mine", Key="a", Tagging="a=1")
    twice = {"TagSet": [{"Key": "a", "Value": "2"}, {"Key": "a", "Value": "3"}]}

    assert refusal(s3.put_object_tagging, Bucket="mine", Key="a", Tagging=twice) == (
        "InvalidTag",
        "Cannot provide multiple Tags with the same key",
    )
    assert refusal(s3.put_object, Bucket="mine", Key="a", Tagging="a=&a=") == (
        "InvalidArgument",
        "The header 'x-amz-tagging' shall be encoded as UTF-8 then URLEncoded URL query parameters without tag name duplicates.",
    )
    assert s3.get_object_tagging(Bucket="mine", Key="a")["TagSet"] == [{"Key": "a", "Value": "1"}]


def test_a_retention_has_a_mode_and_a_time_to_come_and_is_not_shortened(local_aws: LocalAws) -> None:
    s3 = local_aws.client("s3")
    s3.create_bucket(Bucket="locked", ObjectLockEnabledForBucket=True)
    now, place = local_aws.clock.now(), {"Bucket": "locked", "Key": "k"}

    def until(days: int) -> dict[str, Any]:
        return {"Mode": "COMPLIANCE", "RetainUntilDate": now + timedelta(days=days)}

    assert (
        "must both be supplied" in refusal(s3.put_object, **place, Body=b"", ObjectLockMode="GOVERNANCE")[1]
    )
    s3.put_object(**place, Body=b"")
    assert (
        refusal(s3.put_object_retention, **place, Retention=until(-1))[1]
        == "The retain until date must be in the future!"
    )
    s3.put_object_retention(**place, Retention=until(2))
    s3.put_object_retention(**place, Retention=until(3))
    assert refusal(s3.put_object_retention, **place, Retention=until(1))[0] == "AccessDenied"


def test_rules_about_sizes_are_answered_as_they_were_put(local_aws: LocalAws) -> None:
    s3 = local_aws.client("s3")
    s3.create_bucket(Bucket="sized")
    sizes = {"And": {"Prefix": "x/", "ObjectSizeGreaterThan": 500, "ObjectSizeLessThan": 64_000}}
    rule = {"ID": "a", "Status": "Enabled", "Filter": sizes, "Expiration": {"Days": 3}}
    s3.put_bucket_lifecycle_configuration(Bucket="sized", LifecycleConfiguration={"Rules": [rule]})

    assert s3.get_bucket_lifecycle_configuration(Bucket="sized")["Rules"] == [rule]


def test_a_checksum_of_other_bytes_is_refused(local_aws: LocalAws) -> None:
    s3 = local_aws.client("s3")
    s3.create_bucket(Bucket="sums")
    right = base64.b64encode(hashlib.sha256(b"abc").digest()).decode()
    wrong = base64.b64encode(hashlib.sha256(b"x").digest()).decode()
    place = {"Bucket": "sums", "Key": "k", "Body": b"abc"}

    s3.put_object(**place, ChecksumSHA256=right)
    assert refusal(s3.put_object, **place, ChecksumSHA256=wrong) == (
        "BadDigest",
        "The SHA256 you specified did not match the calculated checksum.",
    )
    assert refusal(s3.put_object, **place, ChecksumSHA256="abc")[0] == "InvalidRequest"
    digest = base64.b64encode(hashlib.md5(b"x", usedforsecurity=False).digest()).decode()
    assert refusal(s3.put_object, **place, ContentMD5=digest) == (
        "BadDigest",
        "The Content-MD5 you specified did not match what we received.",
    )
