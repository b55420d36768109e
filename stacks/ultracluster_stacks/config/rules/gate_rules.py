"""Rules about the gates of a job."""

from collections.abc import Callable, Iterator
from typing import Final

from ultracluster_rules.job_definitions import check_fabric
from ultracluster_stacks.config.models.cluster import ClusterConfig
from ultracluster_stacks.config.models.job import JobConfig
from ultracluster_stacks.config.reading.problem import Problem, shown
from ultracluster_stacks.config.rules.job_kind_rules import gates_protect_several_nodes


def gates_have_their_own_names(cluster: ClusterConfig, job: JobConfig) -> Iterator[Problem]:
    """Refuse a job with the name of a gate, which is a job too."""
    for name in sorted(set(job.gate_names) & {getattr(each, "name", None) for each in cluster.jobs}):
        yield Problem.of(
            ("gates",),
            code="UC6153",
            problem=f"a gate and a job have the same name {shown(name)}",
            remedy="Rename the job",
        )


def fabric_is_there(cluster: ClusterConfig, job: JobConfig) -> Iterator[Problem]:
    """Refuse a fabric gate on nodes without EFA."""
    machine = cluster.machine
    findings = check_fabric(machine.name, has_efa=machine.efa_interfaces > 0) if job.gates.fabric else []
    yield from (Problem(("gates", "fabric"), finding) for finding in findings)


JOB_RULES: Final[tuple[Callable[[ClusterConfig, JobConfig], Iterator[Problem]], ...]] = (
    gates_have_their_own_names,
    gates_protect_several_nodes,
    fabric_is_there,
)
"""Rules over the gates of one job; places are seen from the job."""
