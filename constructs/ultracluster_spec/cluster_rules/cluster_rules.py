"""All rules over several fields of a cluster.

A rule is a public function of one of the modules below; those with a parameter `job` are rules over one job, whose
locations are as seen from the job. A rule may be given a cluster of which only some fields could be read, so that all
problems of a file are shown together: such a rule ends where it needs a field that is not there.
"""

import inspect
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

_RULES: Final = [
    function
    for module in (
        placement_rules,
        capacity_rules,
        queue_rules,
        network_rules,
        storage_rules,
        job_rules,
        alarm_rules,
    )
    for name, function in vars(module).items()
    if inspect.isfunction(function) and function.__module__ == module.__name__ and not name.startswith("_")
]
_JOB_RULES: Final = [rule for rule in _RULES if "job" in inspect.signature(rule).parameters]
_CLUSTER_RULES: Final = [rule for rule in _RULES if rule not in _JOB_RULES]


def broken_by_cluster(cluster: Cluster) -> Iterator[tuple[Place, Finding]]:
    """Yield the place, as seen from the cluster, and the finding of everything that breaks one of these rules."""
    for rule in _CLUSTER_RULES:
        yield from located(rule(cluster))
    for index, job in enumerate(getattr(cluster, "jobs", ())):
        for rule in _JOB_RULES:
            yield from ((("jobs", index, *place), finding) for place, finding in located(rule(cluster, job)))
