"""Jobs read datasets."""

import aws_cdk as cdk
import pytest
from aws_cdk import aws_s3 as s3
from tests.unit.ultracluster.builders import of_type
from tests.unit.ultracluster.storage.bucket_grants import allowed, role

from ultracluster import DatasetBucket

pytestmark = pytest.mark.slow


def test_jobs_read_a_dataset_and_change_nothing(stack: cdk.Stack) -> None:
    DatasetBucket(stack, "Data").grant_read(role(stack)).assert_success()
    assert {action for statement, _ in allowed(stack) for action in statement} == {
        "s3:GetObject",
        "s3:ListBucket",
    }


def test_an_existing_bucket_is_read_and_linked_and_not_defined_again(stack: cdk.Stack) -> None:
    theirs = s3.Bucket.from_bucket_name(stack, "Theirs", "corpus")
    data = DatasetBucket.from_bucket(stack, "Data", theirs)
    data.grant_read(role(stack)).assert_success()

    assert data.bucket is theirs
    assert data.association("/data").data_repository_path == "s3://corpus"
    assert of_type(stack, "AWS::S3::Bucket") == []
    assert {action for statement, _ in allowed(stack) for action in statement} == {
        "s3:GetObject",
        "s3:ListBucket",
    }
