"""Policy documents as services read them."""

import json
from typing import Any

import pytest

from ultracluster_local import ACCOUNT, LocalAws
from ultracluster_local.services.iam.policy_grammar import (
    as_list,
    document,
    missing_principal,
    principals,
    statements,
)

pytestmark = pytest.mark.slow  # imports moto

ROLE = f"arn:aws:iam::{ACCOUNT}:role"


def policy(*arns: str) -> dict[str, Any]:
    return {"Statement": [{"Effect": "Allow", "Principal": {"AWS": list(arns)}}]}


@pytest.mark.parametrize(
    ("value", "expected"), [(None, []), ("a", ["a"]), (["a", "b"], ["a", "b"]), ("", [""])]
)
def test_one_value_is_equivalent_to_a_list_of_it(value: Any, expected: list[str]) -> None:
    assert as_list(value) == expected


@pytest.mark.parametrize("text", ["", "{", "[]", '"Allow"'])
def test_a_document_is_an_object_of_json(text: str) -> None:
    assert document(text) is None
    assert document('{"Statement": []}') == {"Statement": []}


def test_one_statement_needs_no_list() -> None:
    one = {"Effect": "Allow"}

    assert statements({"Statement": one}) == statements({"Statement": [one]}) == [one]
    assert statements({}) == []


@pytest.mark.parametrize(
    ("principal", "expected"),
    [
        ({"Service": "a.amazonaws.com"}, ["a.amazonaws.com"]),
        ({"Service": ["a", "b"], "AWS": "c"}, ["a", "b"]),
        ("*", ["*"]),
        ({"AWS": "c"}, []),
        (None, []),
    ],
)
def test_everybody_is_a_principal_of_every_kind(principal: Any, expected: list[str]) -> None:
    assert principals({"Principal": principal}, "Service") == expected


def test_a_role_of_this_account_that_does_not_exist_is_missing(local_aws: LocalAws) -> None:
    trust = {"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"}
    local_aws.client("iam").create_role(
        RoleName="there", Path="/deep/", AssumeRolePolicyDocument=json.dumps({"Statement": [trust]})
    )

    known = (
        "*",
        f"arn:aws:iam::{ACCOUNT}:root",
        "arn:aws:iam::111111111111:role/absent",
        f"{ROLE}/deep/there",
    )
    assert missing_principal(policy(*known)) is None
    assert missing_principal(policy(*known, f"{ROLE}/absent")) == f"{ROLE}/absent"
    assert (
        missing_principal(policy(f"arn:aws:iam::{ACCOUNT}:user/there"))
        == f"arn:aws:iam::{ACCOUNT}:user/there"
    )
