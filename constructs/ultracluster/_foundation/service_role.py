"""A role that a service of AWS assumes to do what is written down, and nothing else."""

from collections.abc import Mapping, Sequence

from aws_cdk import IResolvable
from aws_cdk import aws_iam as iam
from constructs import Construct

from ultracluster._foundation.l2_on_request import l2_in_place_of
from ultracluster._foundation.statement import Statement, policy_document

__all__ = ["ServiceRole"]


class ServiceRole:
    """A role with one inline policy, which is there as soon as the role is."""

    _l2: iam.Role | None = None

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        service: str,
        description: str,
        policy_name: str,
        statements: Sequence[Statement],
        conditions: Mapping[str, Mapping[str, str]] | None = None,
    ) -> None:
        """Define the role.

        Args:
            scope: Where to add it.
            construct_id: Its id there.
            service: Who assumes it, such as ``ec2.amazonaws.com``.
            description: What the role may do.
            policy_name: Name of its policy.
            statements: All that it may do; none for nothing yet.
            conditions: When the service may assume it. Default: always.
        """
        self._scope = scope
        self._construct_id = construct_id
        self._service = service
        self._description = description
        self._policy_name = policy_name
        self._statements = list(statements)
        self._conditions = conditions
        trust = {
            "Effect": "Allow",
            "Principal": {"Service": service},
            "Action": "sts:AssumeRole",
            **({"Condition": conditions} if conditions else {}),
        }
        self._resource = iam.CfnRole(
            Construct(scope, construct_id),
            "Resource",
            assume_role_policy_document=policy_document([trust]),
            description=description,
            policies=self._policies(),
        )

    def allow(self, statements: Sequence[Statement]) -> None:
        """Let it do more.

        Args:
            statements: What else it may do.
        """
        self._statements += statements
        if self._l2 is None:
            self._resource.policies = self._policies()
        else:
            for each in statements:
                self._l2.add_to_policy(iam.PolicyStatement.from_json(each.to_json()))

    def _policies(self) -> list[IResolvable | iam.CfnRole.PolicyProperty] | None:
        if not self._statements:
            return None
        return [iam.CfnRole.PolicyProperty(policy_name=self._policy_name, policy_document=self._document())]

    def _document(self) -> dict[str, object]:
        return policy_document(each.to_json() for each in self._statements)

    @property
    def arn(self) -> str:
        """ARN of the role."""
        return self._resource.attr_arn

    @property
    def name(self) -> str:
        """Name of the role."""
        return self._resource.ref

    @property
    def role(self) -> iam.IRole:
        """The role, for what only an L2 construct can do."""
        if self._l2 is None:
            self._l2 = l2_in_place_of(
                self._resource, scope=self._scope, construct_id=self._construct_id, make=self._new_l2
            )
        return self._l2

    def _new_l2(self) -> iam.Role:
        inline = {self._policy_name: iam.PolicyDocument.from_json(self._document())}
        return iam.Role(
            self._scope,
            self._construct_id,
            assumed_by=iam.ServicePrincipal(self._service, conditions=self._conditions),
            description=self._description,
            inline_policies=inline if self._statements else None,
        )
