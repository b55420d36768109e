"""Rules about the permissions boundary of a cluster."""

from collections.abc import Iterator
from typing import Final

from ultracluster_stacks.config.models.cluster import ClusterConfig
from ultracluster_stacks.config.reading.problem import Problem


def boundary_is_of_the_account(cluster: ClusterConfig) -> Iterator[Problem]:
    """Refuse a permissions boundary from another account."""
    boundary = cluster.permissions_boundary
    if boundary is None or not boundary.startswith("arn:") or cluster.account is None:
        return
    account = boundary.split(":")[4]
    if account not in {"aws", cluster.account}:
        yield Problem.of(
            ("permissions_boundary",),
            code="UC2262",
            problem=f"the policy is in {account}, the cluster in {cluster.account}",
            remedy="Specify the name of the policy, which refers to the account of the cluster",
        )


RULES: Final = (boundary_is_of_the_account,)
