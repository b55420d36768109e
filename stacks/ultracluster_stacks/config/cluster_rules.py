"""The rules over several fields of a cluster, all of them in their order.

A rule is a function that yields problems. It may be given a cluster of which only some fields could be read, so
that all problems of a file are shown together: such a rule ends where it needs a field that is not there.
"""

from typing import TYPE_CHECKING

from ultracluster_stacks.config import (
    capacity_rules,
    job_rules,
    network_rules,
    placement_rules,
    storage_rules,
)
from ultracluster_stacks.config.partial import readable_part
from ultracluster_stacks.config.problem import Problem

if TYPE_CHECKING:  # the model runs these rules
    from ultracluster_stacks.config.cluster import ClusterConfig

__all__ = ["cluster_problems"]


def cluster_problems(cluster: "ClusterConfig") -> list[Problem]:
    """Find what is wrong or doubtful in a cluster beyond its single fields.

    Args:
        cluster: A cluster, possibly without the fields that could not be read.

    Returns:
        Errors and warnings, with places as seen from the cluster.
    """
    rules = (
        *placement_rules.RULES,
        *capacity_rules.RULES,
        *network_rules.RULES,
        *storage_rules.RULES,
    )
    problems = [problem for rule in rules for problem in readable_part(rule(cluster))]
    for rule in job_rules.CLUSTER_RULES:
        problems += readable_part(rule(cluster))
    for rule in job_rules.RULES:
        for index, job in enumerate(getattr(cluster, "jobs", ())):
            problems += (problem.under(("jobs", index)) for problem in readable_part(rule(cluster, job)))
    return problems
