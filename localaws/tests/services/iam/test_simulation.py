"""Simulation of IAM policies."""

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError

from ultracluster_local import LocalAws

pytestmark = pytest.mark.slow


ROLE = "arn:aws:iam::123456789012:role/r"


def code(error: pytest.ExceptionInfo[ClientError]) -> str:
    return str(error.value.response["Error"]["Code"])


@pytest.fixture
def iam(local_aws: LocalAws) -> Any:
    client = local_aws.client("iam")
    trust = json.dumps({"Version": "2012-10-17", "Statement": []})
    client.create_role(RoleName="r", AssumeRolePolicyDocument=trust)
    return client


def allow(iam: Any, *statements: dict[str, Any]) -> None:
    policy = json.dumps({"Version": "2012-10-17", "Statement": list(statements)})
    iam.put_role_policy(RoleName="r", PolicyName="p", PolicyDocument=policy)


def decisions(iam: Any, *actions: str, resources: tuple[str, ...] = ("*",)) -> list[str]:
    answer = iam.simulate_principal_policy(
        PolicySourceArn=ROLE, ActionNames=list(actions), ResourceArns=list(resources)
    )
    return [
        one["EvalResourceDecision"]
        for result in answer["EvaluationResults"]
        for one in result["ResourceSpecificResults"]
    ]


def test_nothing_said_denies_and_a_denial_wins(iam: Any) -> None:
    assert decisions(iam, "s3:GetObject") == ["implicitDeny"]
    everything = {"Effect": "Allow", "Action": "s3:*", "Resource": "*"}
    allow(iam, everything, {"Effect": "Deny", "Action": ["S3:Delete*"], "Resource": "*"})
    assert decisions(iam, "s3:GetObject", "s3:DeleteObject") == ["allowed", "explicitDeny"]


def test_a_permission_applies_only_to_its_resources(iam: Any) -> None:
    allow(iam, {"Effect": "Allow", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::b/*"})
    both = ("arn:aws:s3:::b/x", "arn:aws:s3:::c/x")
    assert decisions(iam, "s3:GetObject", resources=both) == ["allowed", "implicitDeny"]


def test_a_boundary_limits_what_policies_allow(iam: Any) -> None:
    statement = {"Effect": "Allow", "Action": "ec2:*", "Resource": "*"}
    boundary = iam.create_policy(
        PolicyName="b", PolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    )["Policy"]["Arn"]
    allow(iam, {"Effect": "Allow", "Action": "*", "Resource": "*"})
    iam.put_role_permissions_boundary(RoleName="r", PermissionsBoundary=boundary)
    assert decisions(iam, "ec2:RunInstances", "s3:GetObject") == ["allowed", "implicitDeny"]


def test_attached_policies_count(iam: Any) -> None:
    statement = {"Effect": "Allow", "Action": "ec2:*", "Resource": "*"}
    attached = iam.create_policy(
        PolicyName="a", PolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    )["Policy"]["Arn"]
    iam.attach_role_policy(RoleName="r", PolicyArn=attached)
    assert decisions(iam, "ec2:RunInstances", "s3:GetObject") == ["allowed", "implicitDeny"]


@pytest.mark.parametrize(
    ("statement", "decision"),
    [
        ({"NotAction": ["iam:*", "account:*"]}, ["allowed", "implicitDeny"]),
        ({"NotResource": "*"}, ["implicitDeny", "implicitDeny"]),
        ({"Condition": {"StringEquals": {"aws:RequestedRegion": "us-east-2"}}}, ["implicitDeny"] * 2),
        ({"Condition": {"StringNotEquals": {"aws:RequestedRegion": "us-east-2"}}}, ["allowed"] * 2),
        ({"Condition": {"StringEqualsIfExists": {"aws:RequestedRegion": "us-east-2"}}}, ["allowed"] * 2),
        ({"Condition": {"Null": {"aws:RequestedRegion": "true"}}}, ["allowed"] * 2),
        ({"Condition": {"Null": {"aws:RequestedRegion": "false"}}}, ["implicitDeny"] * 2),
    ],
    ids=str,
)
def test_what_is_left_out_and_keys_that_a_request_lacks_decide(
    iam: Any, statement: dict[str, Any], decision: list[str]
) -> None:
    everything = {} if "NotAction" in statement else {"Action": "*"}
    everything |= {} if "NotResource" in statement else {"Resource": "*"}
    allow(iam, {"Effect": "Allow", **everything, **statement})
    assert decisions(iam, "s3:GetObject", "iam:CreateRole") == decision


@pytest.mark.parametrize(
    ("operator", "wanted", "decision"),
    [
        ("ArnLike", "arn:aws:ecs:*:*:cluster/own-*", "allowed"),
        ("ArnEquals", "arn:aws:ecs:*:*:cluster/own-*", "allowed"),
        ("StringLike", "*own*", "allowed"),
        ("StringEquals", "arn:aws:ecs:*:*:cluster/own-*", "implicitDeny"),
        ("ArnLike", "arn:aws:ecs:*:*:cluster/other-*", "implicitDeny"),
        ("ArnNotLike", "arn:aws:ecs:*:*:cluster/own-*", "implicitDeny"),
        ("StringEqualsIfExists", "x", "implicitDeny"),
        ("Null", "true", "implicitDeny"),
    ],
)
def test_a_value_of_a_request_meets_a_condition_or_not(
    iam: Any, operator: str, wanted: str, decision: str
) -> None:
    condition = {operator: {"ecs:cluster": wanted}}
    allow(iam, {"Effect": "Allow", "Action": "ecs:*", "Resource": "*", "Condition": condition})
    values = ["arn:aws:ecs:us-east-2:123456789012:cluster/own-1"]
    entry = {"ContextKeyName": "ecs:Cluster", "ContextKeyValues": values, "ContextKeyType": "string"}
    (result,) = iam.simulate_principal_policy(
        PolicySourceArn=ROLE, ActionNames=["ecs:Poll"], ContextEntries=[entry]
    )["EvaluationResults"]
    assert (result["EvalDecision"], result["MissingContextValues"]) == (decision, [])


def test_another_operator_is_refused_for_a_key_that_the_request_gives(iam: Any) -> None:
    condition = {"NumericLessThan": {"ec2:InstanceCount": "3"}}
    allow(iam, {"Effect": "Allow", "Action": "*", "Resource": "*", "Condition": condition})
    entry = {"ContextKeyName": "ec2:InstanceCount", "ContextKeyValues": ["2"], "ContextKeyType": "numeric"}
    with pytest.raises(ClientError, match="does not simulate NumericLessThan with a value"):
        iam.simulate_principal_policy(
            PolicySourceArn=ROLE, ActionNames=["ec2:RunInstances"], ContextEntries=[entry]
        )


def test_a_result_names_missing_keys_and_the_least_that_is_allowed_of_several_resources(iam: Any) -> None:
    condition = {"StringEquals": {"aws:RequestedRegion": "us-east-2"}}
    statement = {"Effect": "Allow", "Action": "s3:*", "Resource": "arn:aws:s3:::b/*"}
    allow(iam, statement, statement | {"Condition": condition})
    (result,) = iam.simulate_principal_policy(
        PolicySourceArn=ROLE,
        ActionNames=["s3:GetObject"],
        ResourceArns=["arn:aws:s3:::b/x", "arn:aws:s3:::c/x"],
    )["EvaluationResults"]
    assert (result["EvalDecision"], result["MissingContextValues"]) == (
        "implicitDeny",
        ["aws:RequestedRegion"],
    )
    with pytest.raises(ClientError) as error:
        iam.simulate_principal_policy(PolicySourceArn=f"{ROLE}-other", ActionNames=["s3:GetObject"])
    assert code(error) == "NoSuchEntity"


def test_the_roles_of_the_bootstrap_are_there_with_their_power(local_aws: LocalAws) -> None:
    iam = local_aws.client("iam", "us-east-2")
    answer = iam.simulate_principal_policy(
        PolicySourceArn="arn:aws:iam::123456789012:role/cdk-hnb659fds-cfn-exec-role-123456789012-us-east-2",
        ActionNames=["ec2:CreateVpc"],
    )
    assert answer["EvaluationResults"][0]["EvalDecision"] == "allowed"
    iam.get_role(RoleName="cdk-hnb659fds-deploy-role-123456789012-us-east-2")


def test_given_policies_are_evaluated_within_a_given_boundary(iam: Any) -> None:
    def policy(*actions: str) -> str:
        statement = {"Effect": "Allow", "Action": list(actions), "Resource": "*"}
        return json.dumps({"Version": "2012-10-17", "Statement": statement})

    asked = {
        "PolicyInputList": [policy("s3:GetObject", "s3:PutObject")],
        "ActionNames": ["s3:GetObject", "s3:PutObject"],
    }
    bounded = {**asked, "PermissionsBoundaryPolicyInputList": [policy("s3:GetObject")]}

    def decided(request: dict[str, Any]) -> list[str]:
        return [one["EvalDecision"] for one in iam.simulate_custom_policy(**request)["EvaluationResults"]]

    assert (decided(asked), decided(bounded)) == (["allowed", "allowed"], ["allowed", "implicitDeny"])
