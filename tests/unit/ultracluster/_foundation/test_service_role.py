import json

import aws_cdk as cdk
import pytest
from aws_cdk import aws_iam as iam
from tests.unit.ultracluster.builders import allowed, new_stack, of_type, only

from ultracluster._foundation.service_role import ServiceRole
from ultracluster._foundation.statement import Statement, grant

pytestmark = pytest.mark.synth

READ = Statement(["s3:GetObject"], ["arn:aws:s3:::data/*"], sid="Read")
LIST = Statement(["s3:ListBucket", "s3:GetBucketLocation"], ["arn:aws:s3:::data", "arn:aws:s3:::more"])
OWN = {"StringEquals": {"aws:SourceAccount": "123456789012"}}


def role(stack: cdk.Stack, *statements: Statement) -> ServiceRole:
    return ServiceRole(
        stack,
        "Role",
        service="ecs-tasks.amazonaws.com",
        description="Reads",
        policy_name="Reads",
        statements=statements,
        conditions=OWN,
    )


def template(stack: cdk.Stack) -> dict[str, object]:
    return dict(cdk.assertions.Template.from_stack(stack).to_json())


def test_what_it_may_do_is_there_as_soon_as_the_role_is() -> None:
    stack = new_stack()
    role(stack, READ).allow([LIST])

    (policy,) = only(stack, "AWS::IAM::Role")["Policies"]
    assert policy["PolicyDocument"]["Statement"] == [
        {"Sid": "Read", "Effect": "Allow", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::data/*"},
        {"Effect": "Allow", "Action": list(LIST.actions), "Resource": list(LIST.resources)},
    ]
    assert not of_type(stack, "AWS::IAM::Policy")


def test_a_role_that_may_do_nothing_has_no_policy() -> None:
    stack = new_stack()
    role(stack)

    assert "Policies" not in only(stack, "AWS::IAM::Role")


@pytest.mark.parametrize("statements", [(), (READ,), (READ, LIST)], ids=["nothing", "one", "two"])
def test_the_template_is_the_same_when_somebody_asks_for_the_l2_role(
    statements: tuple[Statement, ...],
) -> None:
    plain, asked = new_stack(), new_stack()
    for stack in (plain, asked):
        one = role(stack, *statements)
        iam.CfnInstanceProfile(stack, "Profile", roles=[one.name], instance_profile_name=one.arn)
        if stack is asked:
            assert one.role is one.role

    assert template(asked) == template(plain)


def test_what_referred_to_the_role_before_refers_to_the_l2_one_even_under_another_logical_id() -> None:
    stack = new_stack()
    one = role(stack, READ)
    iam.CfnInstanceProfile(stack, "Profile", roles=[one.name], instance_profile_name=one.arn)
    resource = one.role.node.default_child
    assert isinstance(resource, iam.CfnRole)
    resource.override_logical_id("Renamed")

    assert only(stack, "AWS::IAM::InstanceProfile") == {
        "Roles": [{"Ref": "Renamed"}],
        "InstanceProfileName": {"Fn::GetAtt": ["Renamed", "Arn"]},
    }


def test_the_l2_role_takes_managed_policies_and_grants_and_keeps_what_it_may_do() -> None:
    stack = new_stack()
    one = role(stack, READ)
    one.role.add_managed_policy(iam.ManagedPolicy.from_aws_managed_policy_name("ReadOnlyAccess"))
    grant(one.role, [LIST]).assert_success()
    one.allow([Statement(["s3:PutObject"], ["arn:aws:s3:::data/*"])])

    assert "ReadOnlyAccess" in json.dumps(only(stack, "AWS::IAM::Role")["ManagedPolicyArns"])
    said = json.dumps(allowed(stack, "Reads"))
    assert all(action in said for action in ("s3:GetObject", "s3:ListBucket", "s3:PutObject"))


def test_another_stack_may_refer_to_it_before_and_after_somebody_asks() -> None:
    app = cdk.App(analytics_reporting=False)
    here, there = cdk.Stack(app, "Here"), cdk.Stack(app, "There")
    one = role(here, READ)
    cdk.CfnOutput(there, "Before", value=one.arn)
    cdk.CfnOutput(there, "After", value=one.role.role_arn)

    outputs = template(there)["Outputs"]
    assert isinstance(outputs, dict)
    assert outputs["Before"] == outputs["After"]
    assert len(cdk.assertions.Template.from_stack(here).find_outputs("*")) == 1
