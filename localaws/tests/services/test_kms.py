"""Keys: their policies, specs, aliases and tags, and which services they let in."""

import json
from typing import Any

import pytest
from tests.refusals import refusal

from ultracluster_local import ACCOUNT, LocalAws
from ultracluster_local.services.kms import key_allows_service

pytestmark = pytest.mark.slow

ROOT = {
    "Effect": "Allow",
    "Principal": {"AWS": f"arn:aws:iam::{ACCOUNT}:root"},
    "Action": "kms:*",
    "Resource": "*",
}
LOGS = "logs.us-east-1.amazonaws.com"


@pytest.fixture
def kms(local_aws: LocalAws) -> Any:
    return local_aws.client("kms")


def policy(*statements: dict[str, Any]) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": list(statements)})


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"KeySpec": "RSA_2048"}, "must specify a KeyUsage value"),
        ({"KeySpec": "RSA_2048", "KeyUsage": "KEY_AGREEMENT"}, "KeyUsage KEY_AGREEMENT is not compatible with KeySpec RSA_2048"),
        ({"KeyUsage": "SIGN_VERIFY"}, "KeyUsage SIGN_VERIFY is not compatible with KeySpec SYMMETRIC_DEFAULT"),
        ({"Tags": [{"TagKey": "AWS:x", "TagValue": ""}]}, "Tags beginning with aws: are reserved"),
        ({"Tags": [{"TagKey": "a", "TagValue": ""}] * 2}, "Duplicate tag keys"),
        ({"Tags": [{"TagKey": f"k{number}", "TagValue": ""} for number in range(51)]}, "Too many tags"),
        ({"Policy": "{"}, "The specified policy is not valid JSON."),
        ({"Policy": policy(ROOT | {"Action": "kms:Decrypt"})}, "will not allow you to update the key policy in the future."),
        ({"Policy": policy(ROOT | {"Effect": "Deny"})}, "will not allow you to update the key policy in the future."),
        ({"Policy": policy(ROOT, ROOT | {"Principal": {"AWS": f"arn:aws:iam::{ACCOUNT}:role/absent"}})}, "invalid principals."),
    ],
)  # fmt: skip
def test_a_key_that_could_not_be_used_is_refused(kms: Any, given: dict[str, Any], words: str) -> None:
    assert words in refusal(kms.create_key, **given)[1]
    assert kms.list_keys()["Keys"] == []


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"KeySpec": "HMAC_256", "KeyUsage": "GENERATE_VERIFY_MAC"},
        {"Policy": policy(ROOT | {"Action": ["kms:Put*"]})},
        {"Policy": policy(ROOT | {"Effect": "Deny"}), "BypassPolicyLockoutSafetyCheck": True},
    ],
)
def test_a_key_that_can_be_used_or_whose_lockout_is_wanted_is_created(
    kms: Any, given: dict[str, Any]
) -> None:
    key = kms.create_key(**given)["KeyMetadata"]

    assert key["Enabled"]


def test_an_alias_begins_with_its_prefix(kms: Any) -> None:
    key = kms.create_key()["KeyMetadata"]["KeyId"]

    assert (
        'must start with the prefix "alias/"'
        in refusal(kms.create_alias, AliasName="mine", TargetKeyId=key)[1]
    )


@pytest.mark.parametrize(
    ("statement", "allowed"),
    [
        ({}, True),
        ({"Action": ["kms:Encrypt*", "KMS:decrypt*"]}, True),
        ({"Action": "kms:Encrypt"}, False),
        ({"Principal": {"Service": "s3.amazonaws.com"}}, False),
        ({"Principal": "*"}, True),
        ({"Effect": "Deny"}, False),
        ({"Condition": {"ArnLike": {"kms:EncryptionContext:aws:logs:arn": "arn:*:group"}}}, True),
        ({"Condition": {"ArnLike": {"kms:EncryptionContext:aws:logs:arn": ["arn:*:other"]}}}, False),
        ({"Condition": {"StringEquals": {"aws:SourceAccount": ACCOUNT}}}, True),
    ],
)
def test_a_service_uses_a_key_whose_policy_lets_it_in(
    kms: Any, statement: dict[str, Any], *, allowed: bool
) -> None:
    lets_in = {
        "Effect": "Allow",
        "Principal": {"Service": LOGS},
        "Action": "kms:*",
        "Resource": "*",
    } | statement
    key = kms.create_key(Policy=policy(ROOT, lets_in))["KeyMetadata"]
    kms.create_alias(AliasName="alias/mine", TargetKeyId=key["KeyId"])
    asked = {
        "region": "us-east-1",
        "service": LOGS,
        "action": "kms:Decrypt",
        "context": {"aws:logs:arn": "arn:of:group"},
    }

    for name in (key["KeyId"], key["Arn"], "alias/mine"):
        assert key_allows_service(name, **asked) is allowed


def test_a_key_that_does_not_exist_allows_no_one(kms: Any) -> None:
    key = kms.create_key(Policy=policy(ROOT | {"Principal": "*"}))["KeyMetadata"]["KeyId"]
    asked: dict[str, Any] = {"service": LOGS, "action": "kms:Decrypt", "context": {}}

    assert key_allows_service(key, region="us-east-1", **asked)
    assert not key_allows_service(key, region="us-east-2", **asked)
    assert not key_allows_service("alias/absent", region="us-east-1", **asked)


@pytest.mark.parametrize(
    ("spec", "use", "rotates"),
    [("SYMMETRIC_DEFAULT", "ENCRYPT_DECRYPT", True), ("RSA_2048", "SIGN_VERIFY", False)],
)
def test_only_a_symmetric_key_for_encryption_rotates(kms: Any, spec: str, use: str, *, rotates: bool) -> None:
    key = kms.create_key(KeySpec=spec, KeyUsage=use)["KeyMetadata"]["KeyId"]
    missing = "12345678-1234-1234-1234-123456789012"
    if rotates:
        kms.enable_key_rotation(KeyId=key)
    else:
        assert refusal(kms.enable_key_rotation, KeyId=key)[0] == "UnsupportedOperationException"
    assert refusal(kms.enable_key_rotation, KeyId=missing)[0] == "NotFoundException"


def test_a_deletion_answers_the_arn_the_state_and_the_window_of_its_key(kms: Any) -> None:
    """API_ScheduleKeyDeletion and API_CancelKeyDeletion, Response Elements."""
    key = kms.create_key()["KeyMetadata"]

    scheduled = kms.schedule_key_deletion(KeyId=key["KeyId"])
    assert (scheduled["KeyId"], scheduled["KeyState"], scheduled["PendingWindowInDays"]) == (
        key["Arn"],
        "PendingDeletion",
        30,
    )
    cancelled = kms.cancel_key_deletion(KeyId=key["KeyId"])
    assert (cancelled["KeyId"], "KeyState" in cancelled) == (key["Arn"], False)


def test_a_key_is_used_as_its_usage_and_its_ciphertext_say(local_aws: LocalAws) -> None:
    kms = local_aws.client("kms")
    first, second = (kms.create_key()["KeyMetadata"] for _ in range(2))
    sealed = kms.encrypt(KeyId=first["KeyId"], Plaintext=b"a")["CiphertextBlob"]

    assert kms.decrypt(CiphertextBlob=sealed, KeyId=first["Arn"])["Plaintext"] == b"a"
    assert refusal(kms.decrypt, CiphertextBlob=sealed, KeyId=second["KeyId"]) == (
        "IncorrectKeyException",
        "The key ID in the request does not identify a CMK that can perform this operation.",
    )
    asked = {"KeyId": first["KeyId"], "Message": b"a", "SigningAlgorithm": "RSASSA_PSS_SHA_256"}
    words = f"{first['Arn']} key usage is ENCRYPT_DECRYPT which is not valid for Sign."
    assert refusal(kms.sign, **asked) == ("InvalidKeyUsageException", words)


def test_a_rotation_is_yearly_unless_another_period_is_given(local_aws: LocalAws) -> None:
    kms = local_aws.client("kms")
    key = kms.create_key()["KeyMetadata"]
    assert kms.get_key_rotation_status(KeyId=key["KeyId"])["KeyRotationEnabled"] is False

    kms.enable_key_rotation(KeyId=key["KeyId"])
    shown = kms.get_key_rotation_status(KeyId=key["KeyId"])
    assert (shown["KeyId"], shown["RotationPeriodInDays"]) == (key["Arn"], 365)
    kms.enable_key_rotation(KeyId=key["KeyId"], RotationPeriodInDays=90)
    assert kms.get_key_rotation_status(KeyId=key["KeyId"])["RotationPeriodInDays"] == 90
