"""What imported roles of jobs, nodes and functions may do: IAM simulates them, since no template says it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from ultracluster_runtime.preflight.check import AnyCheck, Outcome, check, failed, passed
from ultracluster_runtime.preflight.reader import AwsReader
from ultracluster_spec.grants import SPENDING, powers
from ultracluster_spec.record import RuleRecord

_ACTIONS: Final = (
    *SPENDING,
    *("iam:AddUserToGroup", "iam:AttachRolePolicy", "iam:AttachUserPolicy", "iam:CreateAccessKey"),
    *("iam:CreateLoginProfile", "iam:CreatePolicyVersion", "iam:CreateRole", "iam:CreateUser"),
    *("iam:DeleteRolePermissionsBoundary", "iam:DeleteRolePolicy", "iam:DetachRolePolicy"),
    *("iam:PutRolePolicy", "iam:PutUserPolicy", "iam:SetDefaultPolicyVersion", "iam:UpdateAssumeRolePolicy"),
    *("iam:PassRole", "sts:AssumeRole", "s3:DeleteObject", "s3:DeleteObjectVersion"),
    *("ec2:TerminateInstances", "batch:SubmitJob", "batch:TerminateJob"),
)

# Resources that nobody has named, by service, so that a permission for a certain resource does not count. IAM simulates what does
# not exist: https://docs.aws.amazon.com/IAM/latest/APIReference/API_SimulatePrincipalPolicy.html (2026-11).
_RESOURCES: Final = {
    "batch": ("batch:{region}:{account}:job/any", "batch:{region}:{account}:job-queue/any"),
    "ec2": tuple(
        f"ec2:{{region}}:{{account}}:{kind}/any"
        for kind in ("capacity-reservation", "dedicated-host", "instance", "reserved-instances")
    ),
    "iam": ("iam::{account}:role/any", "iam::{account}:user/any"),
    "s3": ("s3:::any/any",),
    "sagemaker": ("sagemaker:{region}:{account}:training-plan/any",),
    "savingsplans": ("savingsplans::{account}:savingsplan/any",),
    "sts": ("iam::{account}:role/any",),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportedRole:
    """A role that the app does not create."""

    region: str
    cluster: str  # name of the cluster
    name: str  # with its path
    user: str  # path of the construct that has it

    @property
    def key(self) -> tuple[str, ...]:
        """Region, cluster and role."""
        return self.region, self.cluster, self.name


def imported_role_check(roles: Iterable[ImportedRole]) -> AnyCheck:
    """Return the check that IAM allows imported roles nothing beyond the work of a program (UC9470)."""
    return check("UC9470", _simulate, subjects=lambda _: tuple(roles), after=())(_judge)


def _simulate(reader: AwsReader, role: ImportedRole) -> list[Any] | None:
    found = reader.call_or_none(
        "iam:GetRole", role.region, absent=("NoSuchEntity",), RoleName=role.name.rpartition("/")[2]
    )
    if found is None:
        return None
    arn = found["Role"]["Arn"]
    _, partition, _, _, account, _ = arn.split(":", 5)
    return [
        result
        for service, resources in _RESOURCES.items()
        for result in reader.list_all(
            "iam:SimulatePrincipalPolicy",
            role.region,
            "EvaluationResults",
            PolicySourceArn=arn,
            ActionNames=[action for action in _ACTIONS if action.startswith(f"{service}:")],
            ResourceArns=[
                f"arn:{partition}:{resource.format(region=role.region, account=account)}"
                for resource in resources
            ],
        )
    ]


def _judge(role: ImportedRole, results: list[Any] | None) -> Outcome:
    if results is None:
        return failed(
            f"{role.user} gets it, and there is no such role", "Create it, or let the app create a role"
        )
    allowed = {
        one["EvalActionName"]
        for one in results
        if "allowed" in {each["EvalResourceDecision"] for each in one["ResourceSpecificResults"]}
    }
    if allowed:
        return failed(
            f"{role.user} gets this imported role, which {_described(allowed)}",
            "Deny it in the role, or allow it on named resources only, or let the app create a role",
        )
    if keys := {key for one in results for key in one.get("MissingContextValues", ())}:
        return failed(
            f"no answer: what the imported role {role.name} may do depends on {', '.join(sorted(keys))}",
            "Read the conditions of its policies",
        )
    return passed(f"{role.name} may buy, reserve, delete, end and start nothing, and act as no other role")


def _described(actions: Iterable[str]) -> str:
    """Return what actions let a role do, each kind with its first action."""
    kinds: dict[str, list[str]] = {}
    for action in sorted(actions, key=lambda action: ("Purchase" not in action, action)):
        for kind in powers(action):
            kinds.setdefault(kind, []).append(action)
    return ", ".join(
        f"{kind} ({actions[0]}{f' and {len(actions) - 1} more' if len(actions) > 1 else ''})"
        for kind, actions in kinds.items()
    )


RECORDS: Final = (
    RuleRecord(
        "UC9470",
        "An imported role of a job, a node or a function buys, reserves, deletes, ends and starts nothing, and acts as no other role, but on named resources.",
        remedy="Deny it in the role, or allow it on named resources only, or let the app create a role.",
        source="https://docs.aws.amazon.com/IAM/latest/APIReference/API_SimulatePrincipalPolicy.html, 2026-11.",
    ),
)
