"""KMS keys: key policies, key specs, aliases and tags; and whether a key's policy lets a service use it."""

import json
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any

from moto.kms.models import kms_backends
from moto.kms.responses import KmsResponse

from ultracluster_local.instance.environment import ACCOUNT
from ultracluster_local.services.checks import Checks
from ultracluster_local.services.handlers import Request, ServiceError
from ultracluster_local.services.iam.policy_grammar import (
    as_list,
    covers,
    document,
    lets_service,
    missing_principal,
    principals,
    statements,
)
from ultracluster_local.services.replacing import instead_of

__all__ = ["find_key", "key_allows_service"]

_check = Checks(service="kms")


@instead_of(KmsResponse, "schedule_key_deletion", "cancel_key_deletion")
def _of_deletion(original: Any, response: Any) -> str:
    """Answer with the ARN of the key, its state and the window: API_ScheduleKeyDeletion, API_CancelKeyDeletion."""
    shown = json.loads(original(response))
    key = find_key(shown["KeyId"], response.region)
    if key is not None:
        shown["KeyId"] = key.arn
    if "DeletionDate" in shown:
        window = response._get_param("PendingWindowInDays") or _MOST_WINDOW  # noqa: SLF001 - moto has no public name for it
        shown |= {"KeyState": "PendingDeletion", "PendingWindowInDays": window}
    return json.dumps(shown)


_MOST_WINDOW = 30
_PUT_KEY_POLICY = "kms:PutKeyPolicy"

# CreateKey: https://docs.aws.amazon.com/kms/latest/APIReference/API_CreateKey.html (KeyUsage)
_USAGES = {
    "SYMMETRIC": {"ENCRYPT_DECRYPT"},
    "HMAC": {"GENERATE_VERIFY_MAC"},
    "RSA": {"ENCRYPT_DECRYPT", "SIGN_VERIFY"},
    "ECC_NIST_P": {"SIGN_VERIFY", "KEY_AGREEMENT"},
    "ECC_SECG": {"SIGN_VERIFY"},
    "ECC_NIST_EDWARDS": {"SIGN_VERIFY"},
    "ML_DSA": {"SIGN_VERIFY"},
    "SM2": {"ENCRYPT_DECRYPT", "SIGN_VERIFY", "KEY_AGREEMENT"},
}


@_check("CreateKey")
def check_create_key(request: Request) -> None:
    """Refuse a key whose usage does not fit its spec."""
    spec = (
        request.parameters.get("KeySpec")
        or request.parameters.get("CustomerMasterKeySpec")
        or "SYMMETRIC_DEFAULT"
    )
    usage = request.parameters.get("KeyUsage")
    if usage is None and spec != "SYMMETRIC_DEFAULT":
        problem = "You must specify a KeyUsage value for all KMS keys except for symmetric encryption keys."
        raise ServiceError("ValidationException", problem)
    allowed = next((usages for prefix, usages in _USAGES.items() if spec.startswith(prefix)), None)
    if usage and allowed and usage not in allowed:
        raise ServiceError("ValidationException", f"KeyUsage {usage} is not compatible with KeySpec {spec}")


@_check("CreateKey", "PutKeyPolicy")
def check_key_policy(request: Request) -> None:
    """Refuse a policy that names a missing principal, or that no principal of the account could change again."""
    text = request.parameters.get("Policy")
    if not text:
        return
    policy = document(text)
    if policy is None:
        raise ServiceError("MalformedPolicyDocumentException", "The specified policy is not valid JSON.")
    if missing_principal(policy):
        problem = "Policy contains a statement with one or more invalid principals."
        raise ServiceError("MalformedPolicyDocumentException", problem)
    if not request.parameters.get("BypassPolicyLockoutSafetyCheck") and not _can_change(policy):
        problem = "The new key policy will not allow you to update the key policy in the future."
        raise ServiceError("MalformedPolicyDocumentException", problem)


def _can_change(policy: Mapping[str, Any]) -> bool:
    for statement in statements(policy):
        ours = any(one == "*" or ACCOUNT in str(one) for one in principals(statement, "AWS"))
        if statement.get("Effect") == "Allow" and ours and covers(statement, _PUT_KEY_POLICY):
            return True
    return False


def find_key(key: str, region: str) -> Any | None:
    """Find a key by ID, ARN or alias; AWS managed keys, which come with their first use, are none."""
    backend = kms_backends[ACCOUNT][region]
    if "alias/" in key:
        alias = f"alias/{key.rsplit('alias/', 1)[-1]}"
        key = backend.get_key_id_from_alias(alias) or ""
    return backend.keys.get(key.rsplit("key/", 1)[-1])


def key_allows_service(
    key: str, *, region: str, service: str, action: str, context: Mapping[str, str]
) -> bool:
    """Return whether a key exists and its policy lets a service use it.

    Args:
        key: ID or ARN of the key, or its alias.
        region: Region.
        service: Service principal, such as ``logs.us-east-1.amazonaws.com``.
        action: Action, such as ``kms:Decrypt``.
        context: Encryption context of the service's requests.
    """
    found = find_key(key, region)
    policy = document(found.policy) if found else None
    return lets_service(
        policy, [service], action, when=lambda one: _context_fits(one.get("Condition") or {}, context)
    )


def _context_fits(conditions: Mapping[str, Any], context: Mapping[str, str]) -> bool:
    """Return whether conditions on the encryption context hold; others are not evaluated."""
    for tests in conditions.values():
        for name, patterns in tests.items():
            given = context.get(name.removeprefix("kms:EncryptionContext:"))
            if name.startswith("kms:EncryptionContext:") and not any(
                fnmatchcase(given or "", str(one)) for one in as_list(patterns)
            ):
                return False
    return True


# https://docs.aws.amazon.com/kms/latest/developerguide/key-state.html (2026-11)
_USES = ("Encrypt", "Decrypt", "GenerateDataKey", "GenerateDataKeyWithoutPlaintext", "ReEncrypt")
_ROTATION_DAYS, _ID_LENGTH = 365, 36
_OF_ENABLED = {"CreateGrant", "DisableKeyRotation", "EnableKeyRotation"}
_CHANGES = (
    *_OF_ENABLED,
    *("CreateAlias", "DisableKey", "EnableKey", "ScheduleKeyDeletion"),
    *("TagResource", "UntagResource", "UpdateAlias", "UpdateKeyDescription"),
)


@_check(*_USES, *_CHANGES, "CancelKeyDeletion")
def check_state(request: Request) -> None:
    """Refuse what a key that is disabled, or waits for its deletion, cannot do."""
    given = request.parameters.get("KeyId") or request.parameters.get("TargetKeyId")
    key = find_key(str(given or ""), request.region)
    if key is None:
        return
    pending, operation = key.key_state == "PendingDeletion", request.operation
    if key.key_state == "Disabled" and operation in {*_USES, *_OF_ENABLED}:
        raise ServiceError("DisabledException", f"{key.arn} is disabled.")
    if pending != (operation == "CancelKeyDeletion"):
        words = "is pending deletion." if pending else "is not pending deletion."
        raise ServiceError("KMSInvalidStateException", f"{key.arn} {words}")


@instead_of(KmsResponse, "get_key_rotation_status")
def _rotation(original: Any, response: Any) -> str:
    """Answer with the ARN of the key, and the period of a rotation, by default a year: API_GetKeyRotationStatus."""
    shown = json.loads(original(response))
    key = find_key(response._get_param("KeyId"), response.region)  # noqa: SLF001 - likewise
    period = {"RotationPeriodInDays": _ROTATION_DAYS} if shown["KeyRotationEnabled"] else {}
    return json.dumps({**shown, **period, **({"KeyId": key.arn} if key else {})})


@_check("Sign", "Verify")
def check_use(request: Request) -> None:
    """Refuse a key that does not sign: localstack/localstack, test_kms.snapshot.json."""
    key = find_key(request.parameters["KeyId"], request.region)
    usage = "SIGN_VERIFY" if key is None else key.key_usage or "ENCRYPT_DECRYPT"
    if key is not None and usage != "SIGN_VERIFY":
        problem = f"{key.arn} key usage is {usage} which is not valid for {request.operation}."
        raise ServiceError("InvalidKeyUsageException", problem)


@_check("Decrypt")
def check_decrypt(request: Request) -> None:
    """Refuse another key than that of the ciphertext, which begins with its ID in moto: localstack/localstack, test_kms.snapshot.json."""
    key = find_key(request.parameters.get("KeyId") or "", request.region)
    sealed = request.parameters["CiphertextBlob"][:_ID_LENGTH].decode(errors="replace")
    if key is not None and sealed != key.id and find_key(sealed, request.region) is not None:
        problem = "The key ID in the request does not identify a CMK that can perform this operation."
        raise ServiceError("IncorrectKeyException", problem)


@_check("EnableKeyRotation")
def check_enable_key_rotation(request: Request) -> None:
    """Refuse the rotation of what is no symmetric encryption key: API_EnableKeyRotation."""
    key = find_key(request.parameters["KeyId"], request.region)
    if key is not None and key.key_spec != "SYMMETRIC_DEFAULT":
        raise ServiceError(
            "UnsupportedOperationException",
            f"Automatic key rotation is not supported for {key.key_spec} keys.",
        )
