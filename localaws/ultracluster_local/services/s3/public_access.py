"""Public bucket policies, which new buckets do not take until their public access block is lifted.

https://docs.aws.amazon.com/AmazonS3/latest/userguide/access-control-block-public-access.html (read 2026-11-22), "The meaning of
public"; since April 2023 every new bucket begins with all four settings (torchbox/buckup#18).
"""

import base64
import hashlib
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl

from moto.s3.exceptions import DuplicateTagKeys, S3ClientError
from moto.s3.models import FakeBucket, FakeKey, PublicAccessBlock, S3Backend, s3_backends
from moto.s3.responses import S3Response
from moto.s3.utils import compute_checksum

from ultracluster_local.instance.environment import ACCOUNT
from ultracluster_local.services.checks import Checks
from ultracluster_local.services.handlers import Request, ServiceError
from ultracluster_local.services.iam.policy_grammar import as_list, document, statements
from ultracluster_local.services.kms import find_key
from ultracluster_local.services.replacing import instead_of

__all__: list[str] = []

_check = Checks(service="s3")

_LIMITING = frozenset(
    {
        "aws:principalaccount",
        "aws:principalarn",
        "aws:principalorgid",
        "aws:principalorgpaths",
        "aws:sourceaccount",
        "aws:sourcearn",
        "aws:sourceip",
        "aws:sourceorgid",
        "aws:sourceorgpaths",
        "aws:sourceowner",
        "aws:sourcevpc",
        "aws:sourcevpce",
        "aws:userid",
        "s3:dataaccesspointaccount",
        "s3:dataaccesspointarn",
        "s3:x-amz-server-side-encryption-aws-kms-key-id",
    }
)
"""Condition keys whose fixed values make a statement not public."""

_CHECKSUMS = {
    "Content-MD5": "Content-MD5",
    **{f"x-amz-checksum-{one.lower()}": one for one in ("CRC32", "CRC32C", "SHA1", "SHA256")},
}
_BAD_DIGEST = "The {} you specified did not match the calculated checksum."
_UUID = re.compile(r"(mrk-)?[0-9a-f-]{32,36}")


def _bucket(request: Request) -> Any:
    return s3_backends[ACCOUNT]["aws"].buckets.get(request.parameters["Bucket"])


@_check("PutBucketPolicy")
def check_put_bucket_policy(request: Request) -> None:
    """Refuse a public policy of a bucket that blocks them."""
    bucket, policy = _bucket(request), document(request.parameters["Policy"]) or {}
    if bucket is None or not any(_is_public(one) for one in statements(policy)):
        return
    settings = bucket.public_access_block
    if settings is not None and settings.block_public_policy:
        raise ServiceError(
            "AccessDenied",
            f"User: arn:aws:iam::{ACCOUNT}:root is not authorized to perform: s3:PutBucketPolicy on resource: "
            f'"arn:aws:s3:::{bucket.name}" because public policies are prevented by the BlockPublicPolicy setting in S3 '
            "Block Public Access. (Access Denied)",
        )


def _is_public(statement: Mapping[str, Any]) -> bool:
    principal = statement.get("Principal")
    named = principal.get("AWS") if isinstance(principal, Mapping) else principal
    keys = {
        str(key).lower() for condition in (statement.get("Condition") or {}).values() for key in condition
    }
    return statement.get("Effect") == "Allow" and "*" in as_list(named) and not keys & _LIMITING


@instead_of(FakeBucket, "__init__")
def _with_defaults(original: Any, bucket: Any, *given: Any, **named: Any) -> None:
    """Give new buckets the settings of AWS: https://docs.aws.amazon.com/AmazonS3/latest/userguide/create-bucket-faq.html."""
    original(bucket, *given, **named)
    bucket.public_access_block = PublicAccessBlock(*([True] * 4))
    bucket.ownership_rule = "BucketOwnerEnforced"


@instead_of(S3Backend, "get_bucket_encryption")
def _or_its_default(original: Any, backend: Any, bucket_name: str) -> Any:
    """https://docs.aws.amazon.com/AmazonS3/latest/userguide/default-encryption-faq.html (2026-11)."""
    default = {"ApplyServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}, "BucketKeyEnabled": False}
    return original(backend, bucket_name) or {"Rule": default}


@instead_of(FakeKey, "__init__")
def _naming_its_key(original: Any, made: Any, *given: Any, **named: Any) -> None:
    """Encrypt each object, and name its KMS key by its ARN: localstack/localstack, test_s3_api.snapshot.json.

    https://docs.aws.amazon.com/AmazonS3/latest/userguide/default-encryption-faq.html (2026-11)
    """
    original(made, *given, **named)
    made.encryption = made.encryption or "AES256"
    bucket = s3_backends[ACCOUNT]["aws"].buckets.get(made.bucket_name)
    key = find_key(made.kms_key_id, bucket.region_name) if bucket and made.kms_key_id else None
    made.kms_key_id = key.arn if key is not None else made.kms_key_id


@instead_of(S3Response, "put_object")
def _put_object(original: Any, response: Any) -> Any:
    """Look for the KMS key that a request names, and compare its checksums: localstack/localstack, test_s3.snapshot.json (2026-02-21)."""
    key = response.headers.get("x-amz-server-side-encryption-aws-kms-key-id")
    if key and "alias/aws/" not in key and find_key(key, response.region) is None:
        formed = key.startswith("arn:") or _UUID.fullmatch(key)
        problem = f"Key '{key}' does not exist" if formed else f"Invalid keyId '{key}'"
        raise S3ClientError("KMS.NotFoundException", problem)
    for name, algorithm in _CHECKSUMS.items():
        given = response.headers.get(name)
        if given and given != _checksum(response.body, algorithm):
            words = (
                _BAD_DIGEST
                if name.startswith("x-amz")
                else "The {} you specified did not match what we received."
            )
            raise S3ClientError("BadDigest", words.format(algorithm))
    return original(response)


def _checksum(body: bytes, algorithm: str) -> str:
    if algorithm == "Content-MD5":
        return base64.b64encode(hashlib.md5(body, usedforsecurity=False).digest()).decode()
    return str(compute_checksum(body, algorithm=algorithm).decode())


@instead_of(S3Response, "_tagging_from_xml", "_bucket_tagging_from_body")
def _tags(original: Any, response: Any) -> Any:
    """Take an empty set of tags, at which moto fails, and empty values; refuse a key that is there twice."""
    keys = re.findall(r"<Key>(.*?)</Key>", str(response.body))
    if len({*keys}) < len(keys):
        raise DuplicateTagKeys
    return {key: value or "" for key, value in original(response).items()} if keys else {}


@instead_of(S3Response, "_tagging_from_headers")
def _tags_of_header(original: Any, response: Any, headers: Mapping[str, str]) -> Any:
    """Refuse a key that is there twice (open-io/swift3#92, 2020-10-26)."""
    keys = [key for key, _ in parse_qsl(headers.get("x-amz-tagging") or "", keep_blank_values=True)]
    if len({*keys}) < len(keys):
        rule = "shall be encoded as UTF-8 then URLEncoded URL query parameters without tag name duplicates."
        raise S3ClientError("InvalidArgument", f"The header 'x-amz-tagging' {rule}")
    return original(response, headers)
