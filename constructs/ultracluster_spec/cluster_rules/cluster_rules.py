"""All rules over several fields of a cluster.

A rule may be given a cluster of which only some fields could be read, so that all
problems of a file are shown together: such a rule ends where it needs a field that is not there.
"""

from collections.abc import Iterator
from typing import Final

from ultracluster_spec.cluster import Cluster
from ultracluster_spec.cluster_rules import (
    alarm_rules,
    capacity_rules,
    job_rules,
    network_rules,
    placement_rules,
    queue_rules,
    storage_rules,
)
from ultracluster_spec.findings import Finding
from ultracluster_spec.rules import Place, located

_CLUSTER_RULES: Final = (
    *placement_rules.RULES,
    *capacity_rules.RULES,
    *queue_rules.RULES,
    *network_rules.RULES,
    *storage_rules.RULES,
    *job_rules.RULES,
    *alarm_rules.RULES,
)


def broken_by_cluster(cluster: Cluster) -> Iterator[tuple[Place, Finding]]:
    """Yield the place, as seen from the cluster, and the finding of everything that breaks one of these rules."""
    for rule in _CLUSTER_RULES:
        yield from located(rule(cluster))
    for index, job in enumerate(getattr(cluster, "jobs", ())):
        for of_a_job in job_rules.RULES_OF_A_JOB:
            found = located(of_a_job(cluster, job))
            yield from ((("jobs", index, *place), finding) for place, finding in found)
