"""Rules about kinds of jobs, their dependencies and their Neuron settings."""

from collections.abc import Callable, Iterator
from typing import Final

from ultracluster_catalog.names.submission_tags import MOST_DEPENDENCIES
from ultracluster_catalog.neuron.compile_machines import smaller_compile_types
from ultracluster_catalog.neuron.neuron_settings import compile_target
from ultracluster_rules.jobs import check_neuron_settings
from ultracluster_rules.machines import get_instance_type
from ultracluster_stacks.config.models.cluster import ClusterConfig
from ultracluster_stacks.config.models.job import JobConfig
from ultracluster_stacks.config.reading.problem import Loc, Problem, shown

__all__ = ["JOB_RULES", "RULES", "gates_protect_several_nodes"]

_KINDS: Final = {
    "nodes": "multi-node",
    "array_size": "single-node",
    "instance_type": "precompile",
    "method": "precompile",
    "phase": "precompile",
}
_MOST_TAG_CHARACTERS: Final = 256


def job_has_settings_of_its_kind(cluster: ClusterConfig, job: JobConfig) -> Iterator[Problem]:  # noqa: ARG001 - one signature
    """Refuse settings of another kind of job, which would be ignored."""
    for name, kind in _KINDS.items():
        if job.kind != kind and getattr(job, name) != type(job).model_fields[name].get_default():
            yield Problem(
                loc=(name,),
                code="UC6112",
                problem=f"got {shown(getattr(job, name))} for a {job.kind} job",
                remedy=f"Remove it, or set kind: {kind}",
            )
    if job.kind == "precompile" and job.method == "first-steps" and job.phase != "all":
        yield Problem(
            loc=("phase",),
            code="UC6112",
            problem="the first steps of the program compile what they collect",
            remedy="Remove it",
        )


def gates_protect_several_nodes(cluster: ClusterConfig, job: JobConfig) -> Iterator[Problem]:  # noqa: ARG001 - one signature
    """A job of one container has no nodes to compare."""
    if job.kind != "multi-node" and job.gate_names:
        yield Problem(
            loc=("gates",),
            code="UC6112",
            problem=f"got gates for a {job.kind} job",
            remedy="Remove them, or set kind: multi-node",
        )


def neuron_settings_agree(cluster: ClusterConfig, job: JobConfig) -> Iterator[Problem]:
    """Settings are those of the chips, and contradict neither each other nor the environment."""
    settings = job.neuron.settings()
    if settings is None:
        return
    machine = cluster.machine
    if job.kind == "precompile" and job.instance_type is not None:
        machine = get_instance_type(job.instance_type)
    for finding in check_neuron_settings(settings, machine, job.environment):
        loc: Loc = tuple(finding.path.split("."))
        yield Problem.of(finding, loc)


def precompile_job_has_a_node(cluster: ClusterConfig, job: JobConfig) -> Iterator[Problem]:
    """Graphs are collected on their own family of chips, outside the capacity of the cluster."""
    if job.kind != "precompile":
        return
    machine = cluster.machine
    if job.instance_type is None:
        if not smaller_compile_types(machine, zone_id=cluster.zone_id):
            yield Problem(
                loc=("instance_type",),
                code="UC6116",
                problem=f"no smaller type with the chips of {machine.name} is known to be offered in {cluster.zone_id}",
                remedy="Name a type, with phase: compile if its chips are others",
            )
        return
    small = get_instance_type(job.instance_type)
    if job.phase != "compile" and not (small.is_neuron and compile_target(small) == compile_target(machine)):
        yield Problem(
            loc=("instance_type",),
            code="UC6114",
            problem=f"the graphs are for {machine.name}, and the program cannot run for it on {small.name}",
            remedy="Choose a type with the same chips, or phase: compile for graphs that were collected before",
        )


def jobs_wait_for_jobs_of_their_cluster(cluster: ClusterConfig) -> Iterator[Problem]:
    """A job waits for others that can end before it starts."""
    waits = {job.name: job.depends_on for job in cluster.jobs}
    for index, job in enumerate(cluster.jobs):
        loc: Loc = ("jobs", index, "depends_on")
        if len(job.depends_on) > MOST_DEPENDENCIES or len(" ".join(job.depends_on)) > _MOST_TAG_CHARACTERS:
            yield Problem(
                loc=loc,
                code="UC6113",
                problem=f"got {len(job.depends_on)} jobs of {len(' '.join(job.depends_on))} characters in total",
                allowed=f"up to {MOST_DEPENDENCIES} jobs of {_MOST_TAG_CHARACTERS} characters with the spaces between",
            )
        for place, name in enumerate(job.depends_on):
            if name not in waits:
                others = ", ".join(other for other in waits if other != job.name)
                problem = f"unknown job {shown(name)}"
                yield Problem(loc=(*loc, place), code="UC6113", problem=problem, allowed=others)
            elif name in job.depends_on[:place]:
                yield Problem(loc=(*loc, place), code="UC6113", problem=f"duplicate {shown(name)}")
            elif job.name in _reached(name, waits):
                problem = f"circular dependency: {shown(name)} waits for {shown(job.name)}"
                yield Problem(loc=(*loc, place), code="UC6113", problem=problem)


def precompile_job_makes_the_graphs(cluster: ClusterConfig) -> Iterator[Problem]:
    """Warn of graphs that a job will not find, although it waits for their compilation."""
    named = {job.name: job for job in cluster.jobs}
    for index, job in enumerate(cluster.jobs):
        for place, name in enumerate(job.depends_on):
            before = named.get(name)
            if before is None or before.kind != "precompile":
                continue
            if differences := list(_differences(cluster, before, job)):
                yield Problem(
                    loc=("jobs", index, "depends_on", place),
                    code="UC6115",
                    problem=f"{name} compiles what {job.name} will not find: {'; '.join(differences)}",
                    remedy="Give both the same settings; docs/compile-cache.md has a way for many workers",
                )


def _differences(cluster: ClusterConfig, before: JobConfig, job: JobConfig) -> Iterator[str]:
    if before.image != job.image:
        yield "the image is another one"
    flags = "NEURON_CC_FLAGS"
    if before.neuron != job.neuron or before.environment.get(flags) != job.environment.get(flags):
        yield "the Neuron settings are others"
    workers, wanted = _workers(cluster, before), _workers(cluster, job)
    if before.phase != "compile" and workers != wanted:
        yield f"it has {workers} workers, not {wanted}"


def _workers(cluster: ClusterConfig, job: JobConfig) -> int:
    machine = cluster.machine
    nodes = (job.nodes or cluster.nodes) if job.kind == "multi-node" else 1
    if job.kind == "precompile":
        small = smaller_compile_types(machine, zone_id=cluster.zone_id)
        machine = get_instance_type(job.instance_type) if job.instance_type else (*small, machine)[0]
    settings = job.neuron.settings()
    cores = settings.processes_per_node(machine) if settings else machine.logical_neuron_cores
    processes = job.processes_per_node if job.launcher == "torchrun" else None
    return nodes * (processes or cores)


def _reached(name: str, waits: dict[str, tuple[str, ...]]) -> set[str]:
    """Return the job and all its dependencies."""
    reached: set[str] = set()
    follow = [name]
    while follow:
        if (one := follow.pop()) not in reached:
            reached.add(one)
            follow += waits.get(one, ())
    return reached


RULES: Final[tuple[Callable[[ClusterConfig], Iterator[Problem]], ...]] = (
    jobs_wait_for_jobs_of_their_cluster,
    precompile_job_makes_the_graphs,
)
"""Rules over all jobs of a cluster."""

JOB_RULES: Final[tuple[Callable[[ClusterConfig, JobConfig], Iterator[Problem]], ...]] = (
    job_has_settings_of_its_kind,
    neuron_settings_agree,
    precompile_job_has_a_node,
)
"""Rules over one job; places are seen from the job."""
