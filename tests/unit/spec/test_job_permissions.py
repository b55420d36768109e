"""Secrets and permissions of jobs in a rollout file."""

from collections.abc import Callable

import pytest

_JOB = "waves[0].clusters[0].jobs[0]"


@pytest.mark.parametrize(
    "mistake",
    [
        (
            "image: 1",
            "secrets: {HF_TOKEN: hf-token}\n            image: 1",
            "UC6122",
            f"{_JOB}.secrets.HF_TOKEN",
            "the ARN of a secret",
        ),
        (
            "image: 1",
            "permissions: {statements: [{actions: ['s3:Get*'], resources: ['*']}]}\n            image: 1",
            "UC6121",
            f"{_JOB}.permissions.statements[0].actions[0]",
            "without a wildcard",
        ),
        (
            "image: 1",
            "permissions: {statements: [{actions: [], resources: ['*']}]}\n            image: 1",
            "UC6121",
            f"{_JOB}.permissions.statements[0].actions",
            "at least one item",
        ),
        (
            "image: 1",
            "permissions: {statements: [{actions: [s3:GetObject, 'ec2:PurchaseCapacityBlock'], resources: ['*']}]}\n            image: 1",
            "UC6123",
            f"{_JOB}.permissions.statements[0].actions[1]",
            "buys or reserves",
        ),
        (
            "image: 1",
            "permissions: {statements: [{actions: [s3:GetObject, 'ec2:ModifyCapacityReservation'], resources: ['*']}]}\n            image: 1",
            "UC6123",
            f"{_JOB}.permissions.statements[0].actions[1]",
            "buys or reserves",
        ),
        (
            "image: 1",
            "permissions: {statements: [{actions: [s3:GetObject, 'iam:AttachRolePolicy'], resources: ['arn:aws:iam::123456789012:role/x']}]}\n            image: 1",
            "UC6123",
            f"{_JOB}.permissions.statements[0].actions[1]",
            "changes permissions",
        ),
        (
            "image: 1",
            "permissions: {statements: [{actions: [s3:GetObject, 's3:DeleteObject'], resources: ['*']}]}\n            image: 1",
            "UC6123",
            f"{_JOB}.permissions.statements[0].actions[1]",
            "deletes data",
        ),
        (
            "image: 1",
            "permissions: {statements: [{actions: [s3:GetObject, 'iam:PassRole'], resources: ['arn:aws:iam::123456789012:role/*']}]}\n            image: 1",
            "UC6123",
            f"{_JOB}.permissions.statements[0].actions[1]",
            "acts as another role",
        ),
        (
            "image: 1",
            "permissions: {statements: [{actions: [s3:GetObject, 'ec2:TerminateInstances'], resources: ['arn:aws:ec2:us-east-2:123456789012:instance/*']}]}\n            image: 1",
            "UC6123",
            f"{_JOB}.permissions.statements[0].actions[1]",
            "ends nodes or jobs",
        ),
        (
            "image: 1",
            "permissions: {statements: [{actions: [s3:GetObject, 'batch:SubmitJob'], resources: ['*']}]}\n            image: 1",
            "UC6123",
            f"{_JOB}.permissions.statements[0].actions[1]",
            "starts what is paid",
        ),
        (
            "image: 1",
            "permissions: {managed_policy_arns: [ReadOnly]}\n            image: 1",
            "UC6122",
            f"{_JOB}.permissions.managed_policy_arns[0]",
            "the ARN of a managed policy",
        ),
    ],
)
def test_refuses_a_mistake_with_its_code_and_its_place(
    refused: Callable[..., None], mistake: tuple[str, ...]
) -> None:
    refused(*mistake)


@pytest.mark.parametrize(
    "permission",
    [
        "{actions: [s3:DeleteObject], resources: ['arn:aws:s3:::corpus/tmp/*']}",
        "{actions: [iam:PassRole], resources: ['arn:aws:iam::123456789012:role/train']}",
        "{actions: [sts:AssumeRole], resources: ['arn:aws:iam::123456789012:role/train']}",
        "{actions: [batch:SubmitJob], resources: ['arn:aws:batch:us-east-2:123456789012:job-queue/q']}",
        "{actions: [cloudwatch:PutMetricData], resources: ['*']}",
    ],
)
def test_what_acts_on_a_named_resource_passes_when_the_file_is_loaded(
    accepted: Callable[..., None], permission: str
) -> None:
    accepted([("image: 1", f"permissions: {{statements: [{permission}]}}\n            image: 1")], "UC6123")


@pytest.mark.parametrize(
    ("arn", "says"),
    [
        ("arn:aws:iam::aws:policy/AdministratorAccess", "buys capacity or changes permissions"),
        ("arn:aws:iam::aws:policy/job-function/DataScientist", "deletes data"),
        ("arn:aws:iam::aws:policy/AWSThinkboxAWSPortalAdminPolicy", "unknown here"),
        ("arn:aws:iam::123456789012:policy/AdministratorAccess", "unknown here"),
        ("arn:aws:iam::123456789012:policy/AmazonS3ReadOnlyAccess", "unknown here"),
    ],
)
def test_warns_of_a_managed_policy_that_allows_more_and_names_the_deny(
    refused: Callable[..., None], arn: str, says: str
) -> None:
    permissions = f"permissions: {{managed_policy_arns: ['{arn}']}}"
    place = f"{_JOB}.permissions.managed_policy_arns[0]"
    for part in (says, "The Deny `Never`"):
        refused("image: 1", f"{permissions}\n            image: 1", "UC6124", place, part)


def test_a_managed_policy_that_only_reads_is_no_warning(accepted: Callable[..., None]) -> None:
    arn = "arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess"
    accepted(
        [("image: 1", f"permissions: {{managed_policy_arns: ['{arn}']}}\n            image: 1")], "UC6124"
    )
