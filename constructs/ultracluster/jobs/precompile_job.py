"""Jobs that compile the graphs of a training job before its paid nodes start, and their queues."""

from dataclasses import replace
from typing import Unpack

from aws_cdk import Tags
from constructs import Construct

from ultracluster._foundation.instance_types import AnyInstanceType, instance_type_of
from ultracluster.jobs.cluster_job import ClusterJob
from ultracluster.jobs.job_checks import check_types
from ultracluster.jobs.job_options import JobOptions
from ultracluster.jobs.launcher import launch_command
from ultracluster.nodes.node_group import NodeGroup
from ultracluster.scheduling.i_training_queue import ITrainingQueue
from ultracluster.scheduling.training_queue import TrainingQueue
from ultracluster.storage.compile_cache import CompileCache
from ultracluster.storage.posix_compile_cache import PosixCompileCache
from ultracluster_catalog.limits.queues import QUEUE_NAME_TAG
from ultracluster_catalog.machines.instance_type import InstanceType
from ultracluster_catalog.names.submission_tags import QUEUE_TAG
from ultracluster_catalog.neuron.compile_machines import (
    CPU,
    TARGET_VARIABLE,
    compile_target,
    compile_type,
)
from ultracluster_catalog.neuron.neuron import (
    TORCHNEURON_CACHE_VARIABLE,
    XLA_CACHE_VARIABLE,
    XLA_COMPILER_FLAGS_VARIABLE,
)
from ultracluster_spec import job_definitions
from ultracluster_spec.arguments import validate_arguments
from ultracluster_spec.findings import Finding, FindingsError, is_token, reject
from ultracluster_spec.job import Job

_RETRIES = "NEURON_PARALLEL_COMPILE_MAX_RETRIES"

# Variables that a graph, or its key in the cache, depends on.
_GRAPH_VARIABLES = (
    XLA_CACHE_VARIABLE,
    TORCHNEURON_CACHE_VARIABLE,
    XLA_COMPILER_FLAGS_VARIABLE,
    "NEURON_LOGICAL_NC_CONFIG",
)


class PrecompileJob(ClusterJob):
    """A job definition of one container on one node that fills the compile cache.

    ``neuron_parallel_compile`` (torch-neuronx on XLA) traces a few steps of the program without executing them, collects
    its graphs and compiles them in parallel. With ``method="first-steps"`` the program itself runs, which fills the cache
    of every other framework.

    A NEFF is reused only for the same graph, compiler version and flags. Graphs depend on the number of workers, because
    they contain the replica groups of collectives: one small node can compile for a job of 256 workers only the graphs
    without collectives over all of them. So either run this job with as many workers as the training job has (on one of
    its nodes, for a single-node job), or collect on the nodes of the training job (run it with
    ``NEURON_EXTRACT_GRAPHS_ONLY=1``) and compile here with ``phase="compile"``, which takes most of the time and needs no
    Neuron device: a queue of CPU hosts will do.
    (Neuron documentation: neuron_parallel_compile, page source of 2026-03-13; Llama tutorial, read 2026-11.)
    """

    @validate_arguments
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        job: Job,
        *,
        queue: ITrainingQueue,
        compile_cache: CompileCache | PosixCompileCache,
        for_instance_type: AnyInstanceType | None = None,
        retries: int = 1,
        **options: Unpack[JobOptions],
    ) -> None:
        """Define the job.

        Args:
            job: Description of the job. Use the image and Neuron settings of the training job, since another compiler version
                reads another prefix of the cache, and its command with a limit of 10 to 15 steps. Compiled graphs stay in
                the cache when an attempt fails.
            queue: Queue of the node that compiles; On-Demand or Spot, so that no paid block waits.
            compile_cache: Compile cache to fill.
            for_instance_type: Instance type to compile for. Default: that of the queue.
            retries: How many times neuron_parallel_compile retries failed compilations; small nodes run out of memory when
                they compile many graphs in parallel. Default: 1.
            **options: Arguments of `JobOptions`.

        Raises:
            FindingsError: If graphs would be collected on another chip family (UC6114), `phase` is set for
                ``first-steps`` (UC6112), or `SingleNodeJob` would reject an argument.
        """
        reject(check_types(job))
        resume = job_definitions.refuse_resume("a precompile job") if job.resume else []
        instance_type = queue.nodes.instance_type
        target = instance_type if for_instance_type is None else instance_type_of(for_instance_type)
        self._target = compile_target(target)
        if not instance_type.is_neuron and job.launcher == "torchrun" and job.processes_per_node is None:
            job = replace(job, processes_per_node=job.neuron.processes_per_node(target))
        cross_compiles = compile_target(instance_type) != self._target
        variables = {} if job.method == "first-steps" else {_RETRIES: str(retries)}
        # By default, the compiler targets the chips of the host that it runs on.
        variables |= {TARGET_VARIABLE: self._target} if cross_compiles else {}
        super().__init__(
            scope,
            construct_id,
            job,
            kind="precompile",
            attempts=3,
            queue=queue,
            node_count=1,
            compile_cache=compile_cache,
            default_environment=variables,
            findings=[
                *(finding.at("resume") for finding in resume),
                *(
                    finding.at("for_instance_type")
                    for finding in job_definitions.check_compile_type(
                        instance_type,
                        target,
                        phase=job.phase,
                        captures=job_definitions.captures_graphs(job.method, job.environment),
                    )
                ),
            ],
            for_instance_type=target,
            **options,
        )
        self._collects = job.phase != "compile"
        self._define(
            type="container",
            tags={QUEUE_TAG: queue.job_queue_arn},
            container_properties=self._container(_command(job)),
        )

    def _dependency_warnings(self, dependent: ClusterJob) -> list[Finding]:
        """Warn once (UC6115), with all differences, if the dependent job would need other graphs."""
        instance_type = dependent.queue.nodes.instance_type
        differences = [
            f"{name} differs"
            for name in _GRAPH_VARIABLES
            if self.environment.get(name) != dependent.environment.get(name)
        ]
        if not instance_type.is_neuron or compile_target(instance_type) != self._target:
            differences.append(f"it compiles for {self._target}, not for {instance_type.name}")
        if self.image != dependent.image:
            differences.append("the image differs, and with it perhaps the compiler")
        if self._collects and self.workers != dependent.workers:
            differences.append(
                f"it has {self.workers} workers, not {dependent.workers}: graphs with collectives over all differ"
            )
        return [
            finding.at("depends_on")
            for finding in job_definitions.warn_of_other_graphs(self.node.id, dependent.node.id, differences)
        ]


def precompile_queue(scope: Construct, job: Job, *, cluster: NodeGroup) -> TrainingQueue:
    """Return the queue for precompile jobs and support checks on an instance type, and create it on first use.

    Args:
        job: Description of the job, with its instance type and phase.
        cluster: Nodes of the cluster, whose network, AMI and file system the queue uses.

    Raises:
        FindingsError: If no type is named and none is known to be offered, or ``cpu`` is not (UC6116).
    """
    instance_type = _compile_type(cluster, job)
    parent = scope.node.try_find_child(f"Precompile-{instance_type.name}")
    queue = parent.node.try_find_child("Queue") if parent else None
    if isinstance(queue, TrainingQueue):
        return queue
    parent = Construct(scope, f"Precompile-{instance_type.name}")
    nodes = NodeGroup(
        parent,
        "Nodes",
        network=cluster.network,
        instance_type=instance_type,
        image_id=cluster.image_id,
        file_system=cluster.file_system,
        kms_key=cluster.kms_key,
    )
    queue = TrainingQueue(parent, "Queue", nodes=nodes, max_nodes=1, kms_key=cluster.kms_key)
    name = f"precompile-{instance_type.name}"
    Tags.of(queue).add(QUEUE_NAME_TAG, name, include_resource_types=["AWS::Batch::JobQueue"])
    return queue


def _compile_type(cluster: NodeGroup, job: Job) -> InstanceType:
    if job.instance_type is not None and job.instance_type != CPU:
        return instance_type_of(job.instance_type)
    instance_type, zone = cluster.instance_type, cluster.network.zone_id
    known = zone is not None and not is_token(zone)
    found = compile_type(
        instance_type, zone_id=zone if known else "", phase=job.phase, instance_type=job.instance_type
    )
    if found is None:
        wanted = CPU if job.instance_type == CPU else instance_type.name
        raise FindingsError([job_definitions.refuse_default_compile_type(wanted, "the zone")])
    return found


def _command(job: Job) -> list[str]:
    launch = launch_command(job.command, job.launcher)
    if job.method == "first-steps":
        return launch
    return ["neuron_parallel_compile", *([] if job.phase == "all" else ["--command", job.phase]), *launch]
