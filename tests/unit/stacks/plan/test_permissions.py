from typing import Any

import pytest

from ultracluster_stacks.plan.permissions import risky, widened


def policy(*statements: dict[str, Any]) -> dict[str, Any]:
    return {"PolicyDocument": {"Statement": [{"Effect": "Allow", **one} for one in statements]}}


READ = {"Action": ["s3:GetObject"], "Resource": "arn:aws:s3:::ours/*"}


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (policy(READ), policy({**READ, "Action": ["s3:GetObject", "s3:PutObject"]}), "s3:PutObject"),
        (policy(READ), policy({**READ, "Resource": "*"}), "s3:GetObject on *"),
        (policy(READ), policy({**READ, "Action": "s3:*"}), "s3:*"),
        (policy({**READ, "Condition": {"Bool": {"a": "true"}}}), policy(READ), "s3:GetObject"),
        (policy(READ), policy(READ, {"NotAction": "iam:*", "Resource": "*"}), "all but iam:*"),
        (policy({**READ, "Effect": "Deny"}), policy(), "no longer denies s3:GetObject"),
        (policy(READ), policy({**READ, "Principal": "*"}), 'for "*"'),
        ({**policy(READ), "Roles": []}, {**policy(READ), "Roles": [{"Ref": "Nodes"}]}, "Roles gets"),
    ],
)
def test_says_what_is_newly_allowed(before: dict[str, Any], after: dict[str, Any], said: str) -> None:
    found = widened("AWS::IAM::Policy", before, after)

    assert len(found) == 1
    assert said in found[0]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (policy(READ), policy(READ)),
        (policy(READ), policy({**READ, "Action": "s3:GetObject"})),
        (policy({**READ, "Action": "s3:*"}), policy(READ)),
        (policy({**READ, "Resource": "*"}), policy(READ)),
        (policy(READ), policy({**READ, "Condition": {"Bool": {"a": "true"}}})),
        (policy(READ), policy(READ, {**READ, "Effect": "Deny"})),
        (policy(READ), {}),
    ],
)
def test_says_nothing_when_permissions_shrink(before: dict[str, Any], after: dict[str, Any]) -> None:
    assert widened("AWS::IAM::Policy", before, after) == ()


def test_knows_trust_inline_policies_and_managed_policies_of_a_role() -> None:
    trust = policy({"Action": "sts:AssumeRole", "Principal": {"Service": "ec2.amazonaws.com"}})[
        "PolicyDocument"
    ]
    before: dict[str, Any] = {"AssumeRolePolicyDocument": trust, "Policies": []}
    after = {
        "AssumeRolePolicyDocument": {
            "Statement": [*trust["Statement"], {**trust["Statement"][0], "Principal": {"AWS": "*"}}]
        },
        "Policies": [{"PolicyName": "p", **policy(READ)}],
        "ManagedPolicyArns": ["arn:aws:iam::aws:policy/AdministratorAccess"],
    }

    assert widened("AWS::IAM::Role", before, after) == (
        "allows sts:AssumeRole on itself for AWS *",
        "allows s3:GetObject on arn:aws:s3:::ours/*",
        "ManagedPolicyArns gets arn:aws:iam::aws:policy/AdministratorAccess",
    )


@pytest.mark.parametrize(
    ("before", "after", "lifted"),
    [
        ({"PermissionsBoundary": "b"}, {"Path": "/"}, True),
        ({"PermissionsBoundary": "b"}, {"PermissionsBoundary": "c"}, False),
        ({}, {"Path": "/"}, False),
        ({"PermissionsBoundary": "b"}, {}, False),  # the role itself goes
    ],
)
def test_a_boundary_that_goes_widens_a_role(
    before: dict[str, Any], after: dict[str, Any], lifted: bool
) -> None:
    said = ("PermissionsBoundary no longer limits it",) if lifted else ()

    assert widened("AWS::IAM::Role", before, after) == said
    assert risky("AWS::IAM::Role", before, after) == said


def test_a_rule_of_a_security_group_is_a_permission() -> None:
    rule = {"IpProtocol": "tcp", "FromPort": 22, "CidrIp": "0.0.0.0/0"}

    assert "0.0.0.0/0" in widened("AWS::EC2::SecurityGroupIngress", {}, rule)[0]
    assert "0.0.0.0/0" in widened("AWS::EC2::SecurityGroup", {}, {"SecurityGroupIngress": [rule]})[0]
    assert widened("AWS::EC2::SecurityGroupIngress", rule, rule) == ()


CONDITION = {"StringEquals": {"aws:b": "1", "aws:a": "2"}}
SORTED_CONDITION = '{"StringEquals": {"aws:a": "2", "aws:b": "1"}}'


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        (READ | {"Principal": {"Service": "a.com", "AWS": "1"}}, ("for AWS 1", "for Service a.com")),
        (READ | {"NotPrincipal": {"AWS": "1"}}, ("for anyone but AWS 1",)),
        (READ | {"Condition": CONDITION}, (f"if {SORTED_CONDITION}",)),
        ({"Action": "s3:GetObject", "NotResource": ["b", "a"]}, ("on all but a, b",)),
    ],
)
def test_says_for_whom_where_and_when(statement: dict[str, Any], said: tuple[str, ...]) -> None:
    found = widened("AWS::IAM::Policy", {}, policy(statement))

    assert [one.partition("s3:GetObject ")[2] for one in found] == [
        end if end.startswith("on") else f"on {READ['Resource']} {end}" for end in said
    ]


def test_a_permission_for_everyone_covers_that_of_one_principal() -> None:
    anybody, one = policy(READ | {"Principal": "*"}), policy(READ | {"Principal": {"AWS": "1"}})

    assert widened("AWS::IAM::Policy", anybody, one) == ()
    assert widened("AWS::IAM::Policy", one, anybody) == (
        'allows s3:GetObject on arn:aws:s3:::ours/* for "*"',
    )


def test_a_bracket_in_a_resource_is_literal() -> None:
    wide, narrow = (policy(READ | {"Resource": f"arn:aws:s3:::o[u]rs/{end}"}) for end in ("*", "a"))
    without = policy(READ | {"Resource": "arn:aws:s3:::ours/a"})

    assert widened("AWS::IAM::Policy", wide, narrow) == ()
    assert len(widened("AWS::IAM::Policy", wide, without)) == 1


def test_a_refusal_that_stays_or_goes_with_its_resource_lifts_nothing() -> None:
    denied = policy(READ | {"Effect": "Deny"})

    assert widened("AWS::IAM::Policy", denied, denied) == ()
    assert widened("AWS::IAM::Policy", denied, {}) == ()


def test_a_member_that_a_list_had_before_is_not_new() -> None:
    before = {"Roles": [{"Ref": "Nodes"}]}

    assert widened("AWS::IAM::ManagedPolicy", before, {"Roles": [{"Ref": "Nodes"}, "new"]}) == (
        "Roles gets new",
    )


def test_a_rule_is_named_by_its_type() -> None:
    assert widened("AWS::EC2::SecurityGroupEgress", {}, {"IpProtocol": "-1"}) == (
        'SecurityGroupEgress: {"IpProtocol": "-1"}',
    )


def test_a_document_from_a_function_allows_something_unknown() -> None:
    assert widened("AWS::IAM::Role", {}, {"Policies": ["unreadable"]}) == ()
