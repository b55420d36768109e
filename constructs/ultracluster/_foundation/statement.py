"""What a role may do, as plain data: each statement of the CDK's own is several calls to Node, and a cluster has twenty."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aws_cdk import aws_iam as iam

__all__ = ["Statement", "grant", "policy_document"]


@dataclass(frozen=True)
class Statement:
    """Actions that are allowed with resources.

    Attributes:
        actions: The actions.
        resources: ARNs of the resources.
        sid: What it is called. None for no name.
        conditions: Under which conditions. None for none.
    """

    actions: Sequence[str]
    resources: Sequence[str]
    sid: str | None = None
    conditions: Mapping[str, Mapping[str, str]] | None = None

    def to_json(self) -> dict[str, Any]:
        """Give it as IAM writes it."""
        return {
            **({"Sid": self.sid} if self.sid else {}),
            "Effect": "Allow",
            "Action": _one_or_all(self.actions),
            "Resource": _one_or_all(self.resources),
            **({"Condition": self.conditions} if self.conditions else {}),
        }


def policy_document(statements: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Give a policy as IAM writes it.

    Args:
        statements: Its statements, as IAM writes them.
    """
    return {"Version": "2012-10-17", "Statement": list(statements)}


def grant(grantee: iam.IGrantable, statements: Sequence[Statement]) -> iam.Grant:
    """Let somebody do what statements say.

    Args:
        grantee: Who may.
        statements: One or more.
    """
    first, *others = (
        iam.Grant.add_to_principal(
            grantee=grantee,
            actions=list(each.actions),
            resource_arns=list(each.resources),
            conditions=each.conditions,
        )
        for each in statements
    )
    for other in others:
        first = first.combine(other)
    return first


def _one_or_all(values: Sequence[str]) -> str | list[str]:
    return values[0] if len(values) == 1 else list(values)
