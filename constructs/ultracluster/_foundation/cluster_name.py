"""The name of the cluster that a construct belongs to: what metrics and budgets are told apart by."""

from aws_cdk import Stack
from constructs import Construct

__all__ = ["cluster_name", "name_cluster"]

_CONTEXT = "ultracluster:cluster"


def name_cluster(scope: Construct, name: str) -> None:
    """Name the cluster of everything that is defined in a scope from now on.

    Args:
        scope: A scope without children yet, such as the stage of a rollout's cluster.
        name: The name, unique in its account and Region.
    """
    scope.node.set_context(_CONTEXT, name)


def cluster_name(scope: Construct) -> str:
    """Give the name of the cluster that a construct belongs to: the rollout's, else the name of its stack.

    Args:
        scope: The construct.
    """
    return str(scope.node.try_get_context(_CONTEXT) or Stack.of(scope).stack_name)
