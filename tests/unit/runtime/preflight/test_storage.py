"""Evaluation of existing buckets and keys."""

import json
from dataclasses import replace
from typing import Any

import pytest
from tests.unit.runtime.preflight.preflight_cases import CLUSTER, Client, error, reads_of

from ultracluster_runtime.preflight import storage
from ultracluster_runtime.preflight.check import Status, checks_of
from ultracluster_runtime.preflight.subjects import Account, Part
from ultracluster_spec.buckets import Checkpoints, Dataset
from ultracluster_spec.file_system import FileSystem
from ultracluster_spec.lustre import Association

PLACE, POLICY, KEY, KEY_POLICY = checks_of(storage)
BUCKET = Part(cluster=CLUSTER, name="data")
ARN = "arn:aws:kms:us-east-2:123456789012:key/1"
ITS_KEY = Part(cluster=CLUSTER, name=ARN)
DENY = {"Effect": "Deny", "Principal": "*", "Action": "s3:*", "Resource": "*"}


@pytest.mark.parametrize(
    ("constraint", "region"), [(None, "us-east-1"), ("EU", "eu-west-1"), ("us-east-2", "us-east-2")]
)
def test_legacy_names_of_locations_are_translated(constraint: str | None, region: str) -> None:
    client = Client({"get_bucket_location": {"LocationConstraint": constraint}})

    assert PLACE.gather(reads_of(client), BUCKET) == region


@pytest.mark.parametrize(
    ("region", "joined", "status"),
    [
        ("us-east-2", True, Status.PASS),
        ("us-west-2", True, Status.FAIL),
    ],
)
def test_bucket_linked_to_lustre_must_be_in_the_region(
    region: str | None, joined: bool, status: Status
) -> None:
    checkpoints, system = Checkpoints(bucket_name="data"), FileSystem(link_checkpoints=joined)
    cluster = replace(CLUSTER, checkpoints=checkpoints, file_system=system)
    assert PLACE.evaluate(Part(cluster=cluster, name="data"), region).status is status


def test_each_existing_bucket_and_key_is_checked_once_and_fails_elsewhere_only_if_it_is_linked() -> None:
    cluster = replace(
        CLUSTER,
        kms_key_arn=ARN,
        checkpoints=Checkpoints(bucket_name="our-checkpoints", kms_key_arn=ARN),
        datasets=(
            Dataset(name="text", bucket_name="our-text"),
            Dataset(name="new"),
            Dataset(name="code", bucket_name="our-code", file_system_path="/code"),
        ),
        file_system=FileSystem(
            link_checkpoints=False,
            associations=(
                Association(
                    file_system_path="/images",
                    data_repository_path="s3://our-images/2026",
                    import_events=("NEW",),
                ),
            ),
        ),
    )
    account = Account(clusters=(cluster,))

    assert {part.name: PLACE.evaluate(part, "us-west-2").status for part in PLACE.subjects(account)} == {
        "our-checkpoints": Status.WARN,
        "our-text": Status.WARN,
        "our-code": Status.FAIL,
        "our-images": Status.FAIL,
    }
    assert [part.key for part in KEY.subjects(account)] == [("us-east-2", "train", ARN)]


@pytest.mark.parametrize(
    ("statement", "status"),
    [
        (DENY, Status.FAIL),
        (DENY | {"Principal": {"AWS": "*"}}, Status.FAIL),
        (DENY | {"Principal": {"AWS": "arn:aws:iam::123456789012:role/other"}}, Status.PASS),
        (DENY | {"Effect": "Allow"}, Status.PASS),
        (DENY | {"Condition": {"Bool": {"aws:SecureTransport": "false"}}}, Status.PASS),
        (DENY | {"Condition": {"StringNotEquals": {"aws:SourceVpc": "vpc-1"}}}, Status.WARN),
    ],
)
@pytest.mark.parametrize("as_list", [True, False])
def test_policy_must_not_lock_the_jobs_out(statement: Any, status: Status, as_list: bool) -> None:
    policy = {"Statement": [statement] if as_list else statement}

    assert POLICY.evaluate(BUCKET, (policy, False)).status is status


def test_public_policy_fails_and_no_policy_passes() -> None:
    assert POLICY.evaluate(BUCKET, ({"Statement": []}, True)).status is Status.FAIL
    client = Client({"get_bucket_policy": error("NoSuchBucketPolicy")})
    assert POLICY.evaluate(BUCKET, POLICY.gather(reads_of(client), BUCKET)).status is Status.PASS


@pytest.mark.parametrize(
    ("description", "status"),
    [
        ({"KeyState": "Enabled"}, Status.PASS),
        ({"KeyState": "Disabled"}, Status.FAIL),
        ({"KeyState": "Enabled", "KeyUsage": "SIGN_VERIFY"}, Status.FAIL),
        ({"KeyState": "Enabled", "KeySpec": "RSA_4096"}, Status.FAIL),
        (None, Status.FAIL),
    ],
)
def test_key_must_be_enabled_and_symmetric(description: Any, status: Status) -> None:
    assert KEY.evaluate(ITS_KEY, description).status is status


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({}, Status.PASS),
        ({"Principal": {"AWS": ["123456789012"]}}, Status.PASS),
        ({"Principal": {"AWS": "arn:aws:iam::210987654321:root"}}, Status.WARN),
        ({"Effect": "Deny"}, Status.WARN),
        ({"Action": ["kms:Decrypt"]}, Status.WARN),
    ],
)
def test_key_policy_must_delegate_to_iam_of_the_account(changes: dict[str, Any], status: Status) -> None:
    root = {"AWS": "arn:aws:iam::123456789012:root"}
    statement = {"Effect": "Allow", "Principal": root, "Action": "kms:*", "Resource": "*"} | changes
    client = Client({"get_key_policy": {"Policy": json.dumps({"Statement": [statement]})}})

    assert KEY_POLICY.evaluate(ITS_KEY, KEY_POLICY.gather(reads_of(client), ITS_KEY)).status is status
