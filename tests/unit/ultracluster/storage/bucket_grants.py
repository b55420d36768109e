"""Roles and keys of buckets, and what they are granted."""

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from tests.unit.ultracluster.builders import only


def role(stack: cdk.Stack) -> iam.Role:
    return iam.Role(stack, "Role", assumed_by=iam.ServicePrincipal("ecs-tasks.amazonaws.com"))


def allowed(stack: cdk.Stack) -> list[tuple[list[str], str]]:
    statements = only(stack, "AWS::IAM::Policy")["PolicyDocument"]["Statement"]
    return [
        ([each["Action"]] if isinstance(each["Action"], str) else each["Action"], str(each["Resource"]))
        for each in statements
    ]


def key(stack: cdk.Stack) -> kms.IKey:
    return kms.Key.from_key_arn(
        stack, "Key", "arn:aws:kms:us-east-2:123456789012:key/01234567-89ab-cdef-0123-456789abcdef"
    )


def key_arn(stack: cdk.Stack) -> str:
    return str(stack.node.find_child("Key").key_arn)
