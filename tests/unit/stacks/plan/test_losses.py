"""What takes connectivity or permissions away stops, also as an addition; single resources: edits/single_edits.yaml."""

from typing import Any

import pytest
from tests.unit.stacks.plan.small_stacks import stack

from ultracluster_stacks.plan import compare

SUBNET, BUCKET, ROLE = ({"Type": kind} for kind in ("AWS::EC2::Subnet", "AWS::S3::Bucket", "AWS::IAM::Role"))


def network(kind: str, **properties: Any) -> dict[str, Any]:
    return {"Type": f"AWS::EC2::{kind}", "Properties": properties}


def policy(effect: str, kind: str = "AWS::IAM::Policy", /, **of: Any) -> dict[str, Any]:
    statement = {"Effect": effect, "Principal": "*", "Action": "s3:*", "Resource": "*"}
    return {"Type": kind, "Properties": {"PolicyDocument": {"Statement": [statement]}, **of}}


OURS = {"Ref": "R"}
OF_BUCKET = "AWS::S3::BucketPolicy"
READ = {"Effect": "Allow", "Action": "s3:GetObject*", "Resource": "arn:aws:s3:::b/*"}
READS = {"Type": "AWS::IAM::Policy", "Properties": {"PolicyDocument": {"Statement": [READ]}, "Roles": [OURS]}}


@pytest.mark.parametrize(
    ("present", "added", "kind"),
    [
        (ROLE, policy("Deny", Roles=[OURS]), "permission"),
        (ROLE, policy("Allow", Roles=[OURS]), "permission"),
        (ROLE, READS, ""),
        (BUCKET, policy("Deny", OF_BUCKET), ""),
        (BUCKET, policy("Deny", OF_BUCKET, Bucket=OURS), "permission"),
        (SUBNET, network("SubnetRouteTableAssociation", SubnetId=OURS), "network"),
        (SUBNET, network("SubnetNetworkAclAssociation", SubnetId=OURS), "network"),
        (SUBNET, network("NetworkAclEntry", RuleAction="deny"), "network"),
        (SUBNET, network("NetworkAclEntry", RuleAction="allow"), ""),
        (SUBNET, network("SubnetRouteTableAssociation", SubnetId={"Ref": "New"}), ""),
    ],
)
def test_an_addition_that_takes_away_from_what_is_there_stops(
    present: dict[str, Any], added: dict[str, Any], kind: str
) -> None:
    before, after = stack(R=present), stack(R=present, A=added)

    assert [str(stop.kind) for stop in compare([before], [after]).stops()] == ([kind] if kind else [])
