"""Roles as other services see them."""

import json
from datetime import timedelta
from typing import Any

import pytest

from ultracluster_local import ACCOUNT, LocalAws
from ultracluster_local.services.iam.roles import can_assume, find_role

pytestmark = pytest.mark.slow

BATCH = "batch.amazonaws.com"


def role(local_aws: LocalAws, principal: Any, *, effect: str = "Allow") -> str:
    statement = {"Effect": effect, "Principal": principal, "Action": "sts:AssumeRole"}
    answer = local_aws.client("iam").create_role(
        RoleName="r", Path="/deep/", AssumeRolePolicyDocument=json.dumps({"Statement": [statement]})
    )
    return str(answer["Role"]["Arn"])


def test_a_role_is_found_by_arn_by_name_and_by_its_path(local_aws: LocalAws) -> None:
    arn = role(local_aws, {"Service": BATCH})

    found = [find_role(wanted) for wanted in (arn, "r", "/deep/r")]

    assert [one.arn for one in found] == [arn] * 3
    assert find_role(f"arn:aws:iam::{ACCOUNT}:role/r") is None


@pytest.mark.parametrize(
    ("principal", "trusted"),
    [
        ({"Service": BATCH}, True),
        ({"Service": ["ec2.amazonaws.com", BATCH]}, True),
        ("*", True),
        ({"Service": "ec2.amazonaws.com"}, False),
        ({"AWS": f"arn:aws:iam::{ACCOUNT}:root"}, False),
    ],
)
def test_a_service_assumes_roles_that_trust_it(local_aws: LocalAws, principal: Any, *, trusted: bool) -> None:
    assert can_assume(BATCH, role(local_aws, principal)) is trusted


def test_a_denial_does_not_grant_trust_and_an_absent_role_cannot_be_assumed(local_aws: LocalAws) -> None:
    assert not can_assume(BATCH, role(local_aws, {"Service": BATCH}, effect="Deny"))
    assert not can_assume(BATCH, "absent")


def test_a_new_role_can_be_assumed_when_iam_has_spread_it(local_aws: LocalAws) -> None:
    local_aws.delays.iam = timedelta(seconds=10)
    arn = role(local_aws, {"Service": BATCH})

    assert not can_assume(BATCH, arn)
    local_aws.clock.advance(timedelta(seconds=11))
    assert can_assume(BATCH, arn)
