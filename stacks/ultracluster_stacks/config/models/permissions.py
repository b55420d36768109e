"""What an account asks of the roles that a rollout makes: a boundary and a path; and the rule over both."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Final

from ultracluster_catalog.names.identifiers import IAM_PATH
from ultracluster_stacks.config.models.constraints import Form
from ultracluster_stacks.config.reading.problem import Problem

if TYPE_CHECKING:  # the model runs these rules
    from ultracluster_stacks.config.models.cluster import ClusterConfig

__all__ = ["RULES", "PolicyRef", "RolePathText"]

_NAME: Final = "[A-Za-z0-9_.,+@=-]{1,128}"

PolicyRef = Annotated[
    str,
    Form(
        code="UC2260",
        pattern=f"(?:arn:aws[a-z-]*:iam::(?:[0-9]{{12}}|aws):policy/)?(?:[A-Za-z0-9_.,+@=-]+/)*{_NAME}",
        allowed="the name of a policy, such as training-boundary, or its ARN",
    ),
]

RolePathText = Annotated[
    str,
    Form(
        code="UC2261",
        pattern=IAM_PATH,
        allowed="a path that begins and ends with a slash, such as /training/",
    ),
]


def boundary_is_of_the_account(cluster: "ClusterConfig") -> Iterator[Problem]:
    """A role takes a boundary of its own account, or one of AWS."""
    boundary = cluster.permissions_boundary
    if boundary is None or not boundary.startswith("arn:") or cluster.account is None:
        return
    account = boundary.split(":")[4]
    if account not in {"aws", cluster.account}:
        yield Problem(
            loc=("permissions_boundary",),
            code="UC2262",
            problem=f"the policy is in {account}, the cluster in {cluster.account}",
            remedy="Give the name of the policy, which means the one of the cluster's own account",
        )


RULES: Final = (boundary_is_of_the_account,)
