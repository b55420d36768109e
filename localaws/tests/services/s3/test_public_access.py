"""Public policies, and keys of objects."""

import json
from typing import Any

import pytest
from tests.refusals import refusal

from ultracluster_local import LocalAws

READ = {"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::mine/*"}


@pytest.fixture
def s3(local_aws: LocalAws) -> Any:
    client = local_aws.client("s3")
    client.create_bucket(Bucket="mine")
    return client


@pytest.mark.parametrize(
    ("statement", "public"),
    [
        ({}, True),
        ({"Principal": {"AWS": ["*"]}}, True),
        ({"Effect": "Deny"}, False),
        ({"Principal": {"AWS": "123456789012"}}, False),
        ({"Condition": {"StringEquals": {"aws:SourceVpce": "vpce-1"}}}, False),
        ({"Condition": {"Bool": {"aws:SecureTransport": "true"}}}, True),
    ],
)
def test_a_new_bucket_takes_no_public_policy(s3: Any, statement: dict[str, Any], *, public: bool) -> None:
    text = json.dumps({"Version": "2012-10-17", "Statement": [READ | statement]})
    if public:
        assert refusal(s3.put_bucket_policy, Bucket="mine", Policy=text)[0] == "AccessDenied"
        s3.delete_public_access_block(Bucket="mine")
    s3.put_bucket_policy(Bucket="mine", Policy=text)


def test_settings_of_the_bucket_decide(s3: Any) -> None:
    text = json.dumps({"Version": "2012-10-17", "Statement": [READ]})
    for blocked in (True, False):
        s3.put_public_access_block(
            Bucket="mine", PublicAccessBlockConfiguration={"BlockPublicPolicy": blocked}
        )
        if blocked:
            assert refusal(s3.put_bucket_policy, Bucket="mine", Policy=text)[0] == "AccessDenied"
        else:
            s3.put_bucket_policy(Bucket="mine", Policy=text)


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("none", "Invalid keyId 'none'"),
        ("00000000-0000-0000-0000-000000000000", "does not exist"),
        ("alias/aws/s3", ""),
    ],
)
def test_an_object_has_a_key_that_exists(s3: Any, key: str, words: str) -> None:
    asked = {"Bucket": "mine", "Key": "k", "ServerSideEncryption": "aws:kms", "SSEKMSKeyId": key}
    if words:
        assert words in refusal(s3.put_object, **asked)[1]
    else:
        s3.put_object(**asked)


def test_an_object_is_encrypted_by_default(s3: Any) -> None:
    """https://docs.aws.amazon.com/AmazonS3/latest/userguide/default-encryption-faq.html"""
    s3.put_object(Bucket="mine", Key="kms", Body=b"", ServerSideEncryption="aws:kms")
    answers = [
        s3.put_object(Bucket="mine", Key="k", Body=b""),
        s3.head_object(Bucket="mine", Key="k"),
        s3.get_object(Bucket="mine", Key="k"),
    ]

    assert [one["ServerSideEncryption"] for one in answers] == ["AES256"] * 3
    assert s3.head_object(Bucket="mine", Key="kms")["ServerSideEncryption"] == "aws:kms"
