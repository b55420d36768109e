import json
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from tests.unit.ultracluster.builders import new_stack, of_type
from tests.unit.ultracluster.storage.bucket_grants import allowed, key, key_arn, role

from ultracluster import CheckpointBucket, CompileCache, DatasetBucket
from ultracluster_spec.findings import FindingsError

pytestmark = pytest.mark.slow


def test_days_that_only_the_deployment_knows_are_left_to_s3() -> None:
    stack = new_stack()
    days = cdk.CfnParameter(stack, "Days", type="Number")
    CheckpointBucket(stack, "Later", noncurrent_version_expiration=cdk.Duration.days(days.value_as_number))

    assert [
        each["Properties"]["LifecycleConfiguration"]["Rules"][0]["NoncurrentVersionExpiration"][
            "NoncurrentDays"
        ]
        for each in of_type(stack, "AWS::S3::Bucket")
    ] == [{"Ref": "Days"}]


_AGES: list[tuple[Any, str, int]] = [
    (CheckpointBucket, "noncurrent_version_expiration", 1),
    (CompileCache, "expire_after", 1),
    (DatasetBucket, "noncurrent_version_expiration", 1),
    (DatasetBucket, "infrequent_access_after", 30),
]


@pytest.mark.parametrize(("kind", "argument", "least"), _AGES)
def test_objects_expire_or_move_after_whole_days_that_s3_takes(kind: Any, argument: str, least: int) -> None:
    stack = new_stack()
    for age in (least, 36_500):
        kind(stack, f"Taken{age}", **{argument: cdk.Duration.days(age)})
    for age in (cdk.Duration.days(least - 1), cdk.Duration.days(36_501), cdk.Duration.hours(24 * least + 1)):
        with pytest.raises(
            FindingsError, match=rf"UC5143: \S+: {argument}: got .* days. Allowed: {least} to 36,500"
        ):
            kind(stack, "Refused", **{argument: age})


@pytest.mark.parametrize("kind", [CheckpointBucket, CompileCache, DatasetBucket])
def test_a_bucket_takes_statements_into_the_one_policy_that_a_bucket_has(kind: Any) -> None:
    stack = new_stack()
    bucket = kind(stack, "Bucket", kms_key=kms.Key(stack, "Key")).bucket
    reader = iam.Role(stack, "Reader", assumed_by=iam.AccountPrincipal("210987654321"))
    denied = iam.PolicyStatement(
        sid="NotThey",
        effect=iam.Effect.DENY,
        actions=["s3:DeleteObject"],
        resources=[bucket.arn_for_objects("*")],
        principals=[iam.ArnPrincipal("arn:aws:iam::210987654321:root")],
    )
    assert bucket.add_to_resource_policy(denied).statement_added
    bucket.grant_read(reader)
    assert isinstance(bucket, s3.Bucket)
    bucket.add_lifecycle_rule(id="ours", expiration=cdk.Duration.days(3), prefix="temporary/")

    (policy,) = of_type(stack, "AWS::S3::BucketPolicy")
    said = json.dumps(policy)
    assert "NotThey" in said
    assert said.count("aws:SecureTransport") == said.count("s3:TlsVersion") == 1
    assert "kms:Decrypt" in json.dumps(of_type(stack, "AWS::IAM::Policy"))
    (made,) = of_type(stack, "AWS::S3::Bucket")
    assert [rule["Id"] for rule in made["Properties"]["LifecycleConfiguration"]["Rules"]][1:] == ["ours"]


@pytest.mark.parametrize(
    ("construct", "uses"),
    [(DatasetBucket, {"kms:Decrypt"}), (CheckpointBucket, {"kms:Decrypt", "kms:GenerateDataKey"})],
)
def test_jobs_use_the_key_of_a_bucket_for_what_they_may_do_with_it(
    stack: cdk.Stack, construct: type[CheckpointBucket] | type[DatasetBucket], uses: set[str]
) -> None:
    bucket = construct(stack, "Bucket", kms_key=key(stack))
    grant = bucket.grant_read if isinstance(bucket, DatasetBucket) else bucket.grant_use
    grant(role(stack)).assert_success()
    assert {action for actions, on in allowed(stack) if on == key_arn(stack) for action in actions} == uses
