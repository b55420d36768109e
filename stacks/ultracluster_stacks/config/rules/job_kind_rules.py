"""Rules about kinds of jobs, their dependencies, gates and Neuron settings."""

from collections.abc import Callable, Iterator
from typing import Final

from ultracluster_catalog.machines.instance_type import InstanceType
from ultracluster_catalog.neuron.compile_machines import compile_type
from ultracluster_rules.job_definitions import (
    captures_graphs,
    check_compile_type,
    check_dependencies,
    check_dependency,
    check_fabric,
    check_phase,
    refuse_circle,
    refuse_default_compile_type,
    refuse_for_kind,
    refuse_resume,
    warn_of_other_graphs,
)
from ultracluster_rules.jobs import check_neuron_settings
from ultracluster_stacks.config.models.cluster import ClusterConfig
from ultracluster_stacks.config.models.job import JobConfig
from ultracluster_stacks.config.reading.problem import Loc, Problem, shown

_KINDS: Final = {
    "nodes": "multi-node",
    "array_size": "single-node",
    "instance_type": "precompile",
    "method": "precompile",
    "phase": "precompile",
}


def job_has_settings_of_its_kind(cluster: ClusterConfig, job: JobConfig) -> Iterator[Problem]:  # noqa: ARG001 - one signature
    """Refuse settings of another kind of job, which would be ignored."""
    for name, kind in _KINDS.items():
        if job.kind != kind and getattr(job, name) != type(job).model_fields[name].get_default():
            remedy = f"Remove it, or set kind: {kind}"
            yield Problem((name,), refuse_for_kind(shown(getattr(job, name)), job.kind, remedy=remedy))
    if job.kind == "precompile":
        yield from (Problem(("phase",), finding) for finding in check_phase(job.method, job.phase))


def jobs_that_resume_can_be_submitted_again(cluster: ClusterConfig, job: JobConfig) -> Iterator[Problem]:  # noqa: ARG001 - one signature
    """Refuse resume for arrays and precompile jobs, which are not resubmitted."""
    kind = "a precompile job" if job.kind == "precompile" else "an array" if job.array_size else None
    if job.resume and kind is not None:
        yield from (Problem(("resume",), finding) for finding in refuse_resume(kind))


def gates_protect_several_nodes(cluster: ClusterConfig, job: JobConfig) -> Iterator[Problem]:  # noqa: ARG001 - one signature
    """Refuse gates of a job on one node, which has no nodes to compare."""
    if job.kind != "multi-node" and job.gate_names:
        remedy = "Remove them, or set kind: multi-node"
        yield Problem(("gates",), refuse_for_kind("gates", job.kind, remedy=remedy))


def gates_have_their_own_names(cluster: ClusterConfig, job: JobConfig) -> Iterator[Problem]:
    """Refuse a job with the name of a gate, which is a job too."""
    for name in sorted(set(job.gate_names) & {getattr(each, "name", None) for each in cluster.jobs}):
        yield Problem.of(
            ("gates",),
            "UC6153",
            f"a gate and a job have the same name {shown(name)}",
            remedy="Rename the job",
        )


def fabric_is_there(cluster: ClusterConfig, job: JobConfig) -> Iterator[Problem]:
    """Refuse a fabric gate on nodes without EFA."""
    machine = cluster.machine
    findings = check_fabric(machine.name, has_efa=machine.efa_interfaces > 0) if job.gates.fabric else []
    yield from (Problem(("gates", "fabric"), finding) for finding in findings)


def neuron_settings_agree(cluster: ClusterConfig, job: JobConfig) -> Iterator[Problem]:
    """Refuse Neuron settings that the chips lack, or that contradict each other or the environment."""
    settings = job.neuron.settings()
    if settings is None:
        return
    for finding in check_neuron_settings(settings, cluster.machine, job.environment):
        loc: Loc = tuple(finding.path.split("."))
        yield Problem(loc, finding)


def precompile_job_has_a_node(cluster: ClusterConfig, job: JobConfig) -> Iterator[Problem]:
    """Refuse a node of a precompile job whose type is unknown or cannot collect the graphs."""
    if job.kind != "precompile":
        return
    node = _compiler(cluster, job)
    if node is None:
        finding = refuse_default_compile_type(cluster.machine.name, cluster.zone_id)
        yield Problem(("instance_type",), finding)
        return
    captures = captures_graphs(job.method, job.environment)
    for finding in check_compile_type(node, cluster.machine, phase=job.phase, captures=captures):
        yield Problem(("instance_type",), finding)


def _compiler(cluster: ClusterConfig, job: JobConfig) -> InstanceType | None:
    """Return the type of a precompile job's node; None if none is known to be offered."""
    zone, phase = cluster.zone_id, job.phase
    return compile_type(cluster.machine, zone_id=zone, phase=phase, instance_type=job.instance_type)


def jobs_wait_for_jobs_of_their_cluster(cluster: ClusterConfig) -> Iterator[Problem]:
    """Refuse dependencies on unknown jobs, on too many jobs, and circular ones."""
    waits = {job.name: job.depends_on for job in cluster.jobs}
    for index, job in enumerate(cluster.jobs):
        loc: Loc = ("jobs", index, "depends_on")
        yield from (Problem(loc, finding) for finding in check_dependencies(job.depends_on))
        for place, name in enumerate(job.depends_on):
            others = [other for other in waits if other != job.name] if name not in waits else None
            findings = check_dependency(name, earlier=job.depends_on[:place], known=others)
            if not findings and job.name in _reached(name, waits):
                findings = [refuse_circle((name, job.name))]
            yield from (Problem((*loc, place), finding) for finding in findings)


def precompile_job_makes_the_graphs(cluster: ClusterConfig) -> Iterator[Problem]:
    """Warn about graphs that a job will not find, although it waits for their compilation."""
    named = {job.name: job for job in cluster.jobs}
    for index, job in enumerate(cluster.jobs):
        for place, name in enumerate(job.depends_on):
            before = named.get(name)
            if before is None or before.kind != "precompile":
                continue
            for finding in warn_of_other_graphs(name, job.name, list(_differences(cluster, before, job))):
                yield Problem(("jobs", index, "depends_on", place), finding)


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
        machine = _compiler(cluster, job) or machine
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
    jobs_that_resume_can_be_submitted_again,
    neuron_settings_agree,
    precompile_job_has_a_node,
)
"""Rules over one job; places are seen from the job."""

GATE_RULES: Final = (gates_have_their_own_names, gates_protect_several_nodes, fabric_is_there)
"""Rules over the gates of one job; places are seen from the job."""
