"""IAM of the local AWS simulates imported roles: what they may do on resources that nobody named stops a deployment."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from tests.unit.runtime.preflight.preflight_cases import ROLLOUT

from ultracluster_local import LocalAws
from ultracluster_runtime.preflight.check import Outcome, Status
from ultracluster_runtime.preflight.imported_roles import ImportedRole, imported_role_check
from ultracluster_runtime.preflight.reader import AwsReader
from ultracluster_runtime.preflight.run import UNANSWERED, run_checks
from ultracluster_spec.grants import NEVER

pytestmark = pytest.mark.slow

QUEUE = "arn:aws:batch:us-east-2:123456789012:job-queue"
EVERYTHING = {"Effect": "Allow", "Action": "*", "Resource": "*"}


def outcome_of(local_aws: LocalAws, *statements: dict[str, Any], managed: str = "") -> Outcome:
    iam = local_aws.client("iam")
    trust = json.dumps({"Version": "2012-10-17", "Statement": []})
    iam.create_role(RoleName="own", Path="/jobs/", AssumeRolePolicyDocument=trust)
    if statements:
        policy = json.dumps({"Version": "2012-10-17", "Statement": list(statements)})
        iam.put_role_policy(RoleName="own", PolicyName="p", PolicyDocument=policy)
    if managed:
        iam.attach_role_policy(RoleName="own", PolicyArn=f"arn:aws:iam::aws:policy/{managed}")
    return judged(local_aws, "jobs/own")


def judged(local_aws: LocalAws, name: str) -> Outcome:
    role = ImportedRole(region="us-east-2", cluster="train", name=name, user="train/Pretrain")
    reader = AwsReader(local_aws.client, now=datetime.now(UTC), seconds=30)
    (result,) = run_checks(ROLLOUT, reader, checks=[imported_role_check([role])])
    assert result.key == ("us-east-2", "train", name)
    return result.outcome


def allow(action: str, resource: str, **more: Any) -> dict[str, Any]:
    return {"Effect": "Allow", "Action": action, "Resource": resource, **more}


@pytest.mark.parametrize(
    ("statements", "words"),
    [
        ([EVERYTHING], "buys capacity or changes permissions (ec2:PurchaseCapacityBlock and 39 more)"),
        (
            [EVERYTHING, {"Effect": "Deny", "Action": [*NEVER], "Resource": "*"}],
            "acts as another role (iam:PassRole and 1 more)",
        ),
        (
            [allow("ec2:PurchaseCapacityBlock", "arn:aws:ec2:*:*:capacity-reservation/*")],
            "changes permissions (ec2:PurchaseCapacityBlock)",
        ),
        ([allow("iam:Put*", "arn:aws:iam::*:role/*")], "changes permissions (iam:PutRolePolicy and 1 more)"),
        ([allow("iam:PassRole", "*")], "acts as another role (iam:PassRole)"),
        ([allow("sts:*", "*")], "acts as another role (sts:AssumeRole)"),
        ([allow("s3:DeleteObject", "arn:aws:s3:::*")], "deletes data (s3:DeleteObject)"),
        ([allow("ec2:TerminateInstances", "*")], "ends nodes or jobs (ec2:TerminateInstances)"),
        ([allow("batch:SubmitJob", f"{QUEUE}/*")], "starts what is paid (batch:SubmitJob)"),
    ],
    ids=str,
)
def test_a_role_that_may_do_more_than_a_program_needs_fails(
    local_aws: LocalAws, statements: list[dict[str, Any]], words: str
) -> None:
    outcome = outcome_of(local_aws, *statements)
    assert outcome.status is Status.FAIL
    assert outcome.evidence.startswith("train/Pretrain gets this imported role, which ")
    assert words in outcome.evidence


@pytest.mark.parametrize(
    "statement",
    [
        allow("s3:*", "arn:aws:s3:::checkpoints/*"),
        allow("batch:SubmitJob", f"{QUEUE}/evaluation"),
        allow("ec2:Describe*", "*"),
        {
            "Effect": "Allow",
            "NotAction": ["ec2:*", "iam:*", "s3:*", "sagemaker:*", "savingsplans:*", "sts:*", "batch:*"],
            "Resource": "*",
        },
    ],
    ids=str,
)
def test_what_is_named_passes(local_aws: LocalAws, statement: dict[str, Any]) -> None:
    assert outcome_of(local_aws, statement).status is Status.PASS


@pytest.mark.parametrize("managed", ["AdministratorAccess", "PowerUserAccess", "AmazonEC2FullAccess"])
def test_powerful_policies_of_aws_fail(local_aws: LocalAws, managed: str) -> None:
    assert "(ec2:PurchaseCapacityBlock and " in outcome_of(local_aws, managed=managed).evidence


def test_what_depends_on_conditions_is_no_answer(local_aws: LocalAws) -> None:
    condition = {"StringEquals": {"aws:RequestedRegion": "us-east-2"}}
    outcome = outcome_of(local_aws, EVERYTHING | {"Condition": condition})
    assert outcome.evidence.startswith(UNANSWERED)
    assert "jobs/own may do depends on aws:RequestedRegion" in outcome.evidence


def test_a_role_that_does_not_exist_fails(local_aws: LocalAws) -> None:
    assert judged(local_aws, "gone").evidence == "train/Pretrain gets it, and there is no such role"
