"""What takes connectivity or permissions away stops; what adds to them passes."""

from typing import Any

import pytest
from tests.unit.stacks.plan.small_stacks import stack

from ultracluster_stacks.plan import Stop, compare

PROFILE, FUNCTION = "AWS::IAM::InstanceProfile", "AWS::Lambda::Function"
GROUP, ENDPOINT, ROLE = "AWS::EC2::SecurityGroup", "AWS::EC2::VPCEndpoint", "AWS::IAM::Role"
HTTPS = {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "CidrIp": "0.0.0.0/0"}
SSH = HTTPS | {"FromPort": 22, "ToPort": 22}


def resource(kind: str, properties: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"Type": kind, "Properties": properties or {}}


def stops(before: dict[str, Any], after: dict[str, Any]) -> list[Stop]:
    return [*compare([stack(R=before)], [stack(R=after)]).stops()]


def policy(*statements: dict[str, Any]) -> dict[str, Any]:
    return {"Version": "2012-10-17", "Statement": list(statements)}


def allow(actions: Any, resources: Any = "*", **more: Any) -> dict[str, Any]:
    return {"Effect": "Allow", "Action": actions, "Resource": resources} | more


def deny(actions: Any, **more: Any) -> dict[str, Any]:
    return {"Effect": "Deny", "Principal": "*", "Action": actions, "Resource": "*"} | more


def role(*statements: dict[str, Any], **properties: Any) -> dict[str, Any]:
    policies = [{"PolicyName": "P", "PolicyDocument": policy(*statements)}]
    return resource(ROLE, {"Policies": policies} | properties)


def bucket(*statements: dict[str, Any]) -> dict[str, Any]:
    return resource("AWS::S3::BucketPolicy", {"PolicyDocument": policy(*statements)})


def endpoint(**properties: Any) -> dict[str, Any]:
    return resource(ENDPOINT, {"SubnetIds": ["a"]} | properties)


TLS = {"Bool": {"aws:SecureTransport": "false"}}


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        (
            resource(GROUP, {"SecurityGroupEgress": [HTTPS, SSH]}),
            resource(GROUP, {"SecurityGroupEgress": [HTTPS]}),
            "network",
        ),
        (resource(GROUP, {"SecurityGroupIngress": [HTTPS]}), resource(GROUP), "network"),
        (endpoint(SubnetIds=["a", "b"]), endpoint(SubnetIds=["a"]), "network"),
        (endpoint(PrivateDnsEnabled=True), endpoint(), "network"),
        (endpoint(), endpoint(PolicyDocument=policy(allow("s3:Get*", Principal="*"))), "permission"),
        (
            endpoint(PolicyDocument=policy(allow("s3:*", Principal="*"))),
            endpoint(PolicyDocument=policy(allow("s3:Get*", Principal="*"))),
            "permission",
        ),
        (role(allow(["s3:Get*", "s3:Put*"])), role(allow("s3:Get*")), "permission"),
        (role(allow("s3:*", "arn:aws:s3:::*")), role(allow("s3:*", "arn:aws:s3:::b/*")), "permission"),
        (role(allow("s3:*")), role(allow("s3:*", Condition={"Bool": {"a": "b"}})), "permission"),
        (role(allow("s3:*")), role(), "permission"),
        (role(ManagedPolicyArns=["a", "b"]), role(ManagedPolicyArns=["b"]), "permission"),
        (bucket(), bucket(deny("s3:*")), "permission"),
        (role(allow("s3:*")), role(allow("s3:*"), PermissionsBoundary="arn:b"), "permission"),
        (
            role(allow("s3:*"), PermissionsBoundary="arn:a"),
            role(allow("s3:*"), PermissionsBoundary="arn:b"),
            "permission",
        ),
        (resource(PROFILE, {"Roles": ["a"]}), resource(PROFILE, {"Roles": ["b"]}), "permission"),
        (resource(FUNCTION, {"Role": "a"}), resource(FUNCTION, {"Role": "b"}), "control"),
        (role(allow("s3:*"), PermissionsBoundary="arn:b"), role(allow("s3:*")), "permission"),
        (role(allow("s3:Get*")), role(allow("s3:*")), "permission"),
        (role(allow("s3:*", Condition={"Bool": {"a": "b"}})), role(allow("s3:*")), "permission"),
        (bucket(deny("s3:*")), bucket(), "permission"),
        (role(), role(allow("s3:GetObject", "*") | {"Action": "EC2:purchase*"}), "permission"),
        (role(), role({"Effect": "Allow", "NotAction": "iam:*", "Resource": "*"}), "permission"),
        (role(), role(ManagedPolicyArns=["a"]), "permission"),
        (role(allow("s3:Get*", Condition={"Bool": {"a": "b"}})), role(allow("s3:Get*")), "permission"),
        (endpoint(PolicyDocument=policy(allow("s3:*", Principal="*"))), endpoint(), "permission"),
        (bucket(), bucket(allow("s3:Get*", Principal="*")), "permission"),
        (bucket(), bucket(allow("s3:Get*", Principal={"AWS": "999999999999"})), "permission"),
        (
            resource(GROUP, {"SecurityGroupIngress": []}),
            resource(GROUP, {"SecurityGroupIngress": [HTTPS]}),
            "network",
        ),
        (bucket(), bucket(deny("s3:*", Condition=TLS | {"StringEquals": {"a": "b"}})), "permission"),
    ],
)
def test_what_is_cut_or_narrowed_stops(before: dict[str, Any], after: dict[str, Any], kind: str) -> None:
    (stop,) = stops(before, after)

    assert (str(stop.kind), stop.allow) == (kind, "change:s/R")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            resource(GROUP, {"SecurityGroupEgress": [HTTPS]}),
            resource(GROUP, {"SecurityGroupEgress": [SSH, HTTPS]}),
        ),
        (endpoint(), endpoint(SubnetIds=["b", "a"])),
        (endpoint(), endpoint(Tags=[{"Key": "a", "Value": "b"}])),
        (endpoint(), endpoint(PolicyDocument=policy(allow("*", Principal="*")))),
        (
            endpoint(PolicyDocument=policy(allow("s3:Get*", "arn:aws:s3:::a/*", Principal="*"))),
            endpoint(
                PolicyDocument=policy(
                    allow("s3:Get*", ["arn:aws:s3:::a/*", "arn:aws:s3:::b/*"], Principal="*"),
                )
            ),
        ),
        (role(allow("s3:Get*")), role(allow("s3:Get*"), allow("s3:ListBucket*", "arn:aws:s3:::b"))),
        (role(), role(allow("batch:SubmitJob", {"Ref": "Job"}))),
        (bucket(), bucket(allow("s3:Get*", Principal={"Service": "fsx.amazonaws.com"}))),
        (role(allow(["s3:Get*", "s3:Put*"])), role(allow("s3:Put*"), allow("S3:get*"))),
        (bucket(), bucket(deny("s3:*", Condition=TLS))),
        (bucket(), bucket(deny("s3:*", Condition={"NumericLessThan": {"s3:TlsVersion": 1.2}}))),
    ],
)
def test_what_adds_or_says_the_same_passes(before: dict[str, Any], after: dict[str, Any]) -> None:
    assert stops(before, after) == []


SUBNET = {"Type": "AWS::EC2::Subnet", "Properties": {}}
DENIES = resource("AWS::IAM::Policy", {"PolicyDocument": policy(deny("s3:*")), "Roles": [{"Ref": "R"}]})


@pytest.mark.parametrize(
    ("present", "added", "kind"),
    [
        (role(allow("s3:*")), DENIES, "permission"),
        (resource("AWS::S3::Bucket"), bucket(deny("s3:*")), ""),
        (
            resource("AWS::S3::Bucket"),
            resource(
                "AWS::S3::BucketPolicy", {"PolicyDocument": policy(deny("s3:*")), "Bucket": {"Ref": "R"}}
            ),
            "permission",
        ),
        (SUBNET, resource("AWS::EC2::SubnetRouteTableAssociation", {"SubnetId": {"Ref": "R"}}), "network"),
        (SUBNET, resource("AWS::EC2::SubnetNetworkAclAssociation", {"SubnetId": {"Ref": "R"}}), "network"),
        (SUBNET, resource("AWS::EC2::NetworkAclEntry", {"RuleAction": "deny"}), "network"),
        (SUBNET, resource("AWS::EC2::NetworkAclEntry", {"RuleAction": "allow"}), ""),
        (SUBNET, resource("AWS::EC2::SubnetRouteTableAssociation", {"SubnetId": {"Ref": "New"}}), ""),
        (
            role(),
            resource("AWS::IAM::Policy", {"PolicyDocument": policy(allow("s3:*")), "Roles": [{"Ref": "R"}]}),
            "permission",
        ),
        (
            role(),
            resource(
                "AWS::IAM::Policy",
                {
                    "PolicyDocument": policy(allow("s3:GetObject*", "arn:aws:s3:::b/*")),
                    "Roles": [{"Ref": "R"}],
                },
            ),
            "",
        ),
    ],
)
def test_an_addition_that_takes_away_from_what_is_there_stops(
    present: dict[str, Any], added: dict[str, Any], kind: str
) -> None:
    before, after = stack(R=present), stack(R=present, A=added)

    assert [str(stop.kind) for stop in compare([before], [after]).stops()] == ([kind] if kind else [])
