"""All rules over several fields of a cluster, in order.

A rule is a function that yields problems. It may be given a cluster of which only some fields could be read, so
that all problems of a file are shown together: such a rule ends where it needs a field that is not there.
"""

from typing import Final

from ultracluster_stacks.config.models.cluster import ClusterConfig
from ultracluster_stacks.config.reading.partial import readable_part
from ultracluster_stacks.config.reading.problem import Problem, under
from ultracluster_stacks.config.rules import (
    alarm_rules,
    capacity_rules,
    job_rules,
    network_rules,
    placement_rules,
    queue_rules,
    storage_rules,
)

_RULES: Final = (
    *placement_rules.RULES,
    *capacity_rules.RULES,
    *queue_rules.RULES,
    *network_rules.RULES,
    *storage_rules.RULES,
    *job_rules.RULES,
    *alarm_rules.RULES,
)


def cluster_problems(cluster: ClusterConfig) -> list[Problem]:
    """Find errors and warnings that involve several fields of a cluster, with places as seen from it."""
    problems = [problem for rule in _RULES for problem in readable_part(rule(cluster))]
    for index, job in enumerate(getattr(cluster, "jobs", ())):
        for job_rule in job_rules.JOB_RULES:
            problems += (under(("jobs", index), problem) for problem in readable_part(job_rule(cluster, job)))
    return problems
