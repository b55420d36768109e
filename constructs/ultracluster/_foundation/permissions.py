"""IAM statements and grants."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from aws_cdk import aws_iam as iam

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


def extend_role(role: iam.IRole, statements: Sequence[iam.PolicyStatement], *, path: str) -> list[Finding]:
    """Add statements to a role that is passed in, and return the warning about one that is imported.

    They have no Sid, because a role may be shared by what adds the same kind of statement for other resources.
    """
    for statement in statements:
        statement.sid = None
        role.add_to_principal_policy(statement)
    return require(
        isinstance(role, iam.Role),
        "UC6165",
        f"the role {quote(role.node.path)} is imported, so that what else it may do is unknown, and one that is not mutable "
        "gets nothing here",
        remedy="Check that it allows what a new role would, or pass an iam.Role of the app",
        path=path,
    )


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
