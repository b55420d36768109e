"""Name of the cluster that a construct belongs to, used in metrics and budgets."""

from aws_cdk import Stack
from constructs import Construct

_CONTEXT = "ultracluster:cluster"


def name_cluster(scope: Construct, name: str) -> None:
    """Set the cluster name for all constructs that are added to a scope.

    Args:
        scope: Scope without children, such as the stage of a cluster of a rollout.
        name: Name, unique in its account and Region.
    """
    scope.node.set_context(_CONTEXT, name)


def cluster_name(scope: Construct) -> str:
    """Return the name of the cluster that a construct belongs to; by default, the name of its stack.

    Args:
        scope: Construct in the cluster.
    """
    return str(scope.node.try_get_context(_CONTEXT) or Stack.of(scope).stack_name)
