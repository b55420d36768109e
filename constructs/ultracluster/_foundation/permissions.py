"""IAM statements and grants."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from aws_cdk import Aws, Stack
from aws_cdk import aws_iam as iam
from constructs import Construct

from ultracluster_spec.findings import Finding, quote, require
from ultracluster_spec.grants import NEVER

PULL_ACTIONS: Final = (
    "ecr:BatchCheckLayerAvailability",
    "ecr:BatchGetImage",
    "ecr:GetDownloadUrlForLayer",
)
"""Actions on a repository of Amazon ECR that an image pull needs."""


def allow(
    sid: str, actions: Sequence[str], resources: Sequence[str], conditions: Mapping[str, Any] | None = None
) -> iam.PolicyStatement:
    """Return the statement of a policy that allows actions on resources."""
    return iam.PolicyStatement(
        sid=sid, actions=list(actions), resources=list(resources), conditions=conditions
    )


def never() -> iam.PolicyStatement:
    """Return the statement that no policy attached later can undo: nothing is bought or reserved, and IAM is not changed."""
    return iam.PolicyStatement(sid="Never", effect=iam.Effect.DENY, actions=[*NEVER], resources=["*"])


def extend_role(
    scope: Construct,
    construct_id: str,
    role: iam.IRole,
    statements: Sequence[iam.PolicyStatement],
    *,
    path: str,
) -> tuple[iam.IRole, list[Finding]]:
    """Add statements to a role that is passed in; return the role to use, and the warning about one that is imported.

    They have no Sid, because a role may be shared by what adds the same kind of statement for other resources.
    """
    findings = require(
        isinstance(role, iam.Role),
        "UC6165",
        f"the role {quote(role.node.path)} is imported, so that what else it may do is unknown, and one that is not mutable "
        "gets nothing here",
        remedy="Check that it allows what a new role would, or pass an iam.Role of the app",
        path=path,
    )
    role = _role_for(scope, construct_id, role)
    for statement in statements:
        statement.sid = None
        role.add_to_principal_policy(statement)
    return role, findings


def _role_for(scope: Construct, construct_id: str, role: iam.IRole) -> iam.IRole:
    """Return a role as the stack of a scope can extend it: that of another stack of the app as an imported one.

    Its own policy, in the other stack, would refer to what this stack defines, and this stack refers to the role: a cycle.
    """
    if not isinstance(role, iam.Role) or Stack.of(role) is Stack.of(scope):
        return role
    resource = role.node.default_child
    role_path = (isinstance(resource, iam.CfnRole) and resource.path) or "/"
    # Not `role_arn`: the CDK cannot find the name behind the path in an ARN that is a token.
    arn = f"arn:{Aws.PARTITION}:iam::{Stack.of(role).account}:role{role_path}{role.role_name}"
    return iam.Role.from_role_arn(scope, construct_id, arn)


def grant(
    grantee: iam.IGrantable,
    actions: Sequence[str],
    resources: Sequence[str],
    conditions: Mapping[str, Any] | None = None,
) -> iam.Grant:
    """Grant a principal permission for actions on resources."""
    return iam.Grant.add_to_principal(
        grantee=grantee, actions=list(actions), resource_arns=list(resources), conditions=conditions
    )
