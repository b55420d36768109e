"""Compiles the graphs of a training job before its paid nodes start."""

from collections.abc import Mapping, Sequence
from typing import Literal

from aws_cdk import Duration
from constructs import Construct

from ultracluster.images.container_image import ContainerImage
from ultracluster.jobs.job import Job
from ultracluster.jobs.launcher import Launcher, launch_command
from ultracluster.scheduling.training_queue import TrainingQueue
from ultracluster.storage.compile_cache import CompileCache
from ultracluster.storage.posix_compile_cache import PosixCompileCache
from ultracluster_catalog.machines.instance_type import InstanceType
from ultracluster_catalog.names.submission_tags import QUEUE_TAG
from ultracluster_catalog.neuron.neuron import (
    TORCHNEURON_CACHE_VARIABLE,
    XLA_CACHE_VARIABLE,
    XLA_COMPILER_FLAGS_VARIABLE,
)
from ultracluster_catalog.neuron.neuron_settings import NeuronSettings, compile_target
from ultracluster_rules.findings import Finding
from ultracluster_rules.job_definitions import check_compile_type, check_phase, warn_of_other_graphs
from ultracluster_rules.machines import get_instance_type
from ultracluster_rules.numbers import rejects_unsafe_numbers

__all__ = ["PrecompileJob"]

_TARGET = "NEURON_PLATFORM_TARGET_OVERRIDE"
_RETRIES = "NEURON_PARALLEL_COMPILE_MAX_RETRIES"

# What a graph, or its key in the cache, depends on.
_DECIDES = (
    XLA_CACHE_VARIABLE,
    TORCHNEURON_CACHE_VARIABLE,
    XLA_COMPILER_FLAGS_VARIABLE,
    "NEURON_LOGICAL_NC_CONFIG",
)


class PrecompileJob(Job):
    """A job definition of one container on one node that fills the compile cache.

    ``neuron_parallel_compile`` (torch-neuronx on XLA) runs a few steps of the program without executing anything,
    collects its graphs and compiles them side by side. With ``method="first-steps"`` the program itself runs, which
    fills the cache of every other framework.

    A NEFF is found again only by the same graph, compiler version and flags. Graphs depend on the number of
    workers, because the groups of collectives are part of them: what one small node compiles for a job of 256
    workers is only what has no collectives over all of them. So either run this with as many workers as the job has
    (on one of its nodes, for a job of one node), or collect on the job's own nodes (a run of the job with
    ``NEURON_EXTRACT_GRAPHS_ONLY=1``) and compile here with ``phase="compile"``, which is the long part.
    (Neuron documentation: neuron_parallel_compile, page source of 2026-03-13; Llama tutorial, read 2026-11.)
    """

    @rejects_unsafe_numbers
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        queue: TrainingQueue,
        image: str | ContainerImage,
        command: Sequence[str],
        compile_cache: CompileCache | PosixCompileCache,
        method: Literal["neuron-parallel-compile", "first-steps"] = "neuron-parallel-compile",
        phase: Literal["all", "collect", "compile"] = "all",
        for_instance_type: str | InstanceType | None = None,
        processes_per_node: int | None = None,
        retries: int = 1,
        neuron: NeuronSettings | None = None,
        environment: Mapping[str, str] | None = None,
        timeout: Duration | None = None,
        attempts: int = 3,
        launcher: Launcher = "torchrun",
        after: Sequence[Job] = (),
    ) -> None:
        """Define the job.

        Args:
            scope: Where to add it.
            construct_id: Its id there.
            queue: Queue of the node that compiles; on-demand or Spot, so that no paid block waits.
            image: The image of the training job: another compiler version looks under another prefix.
            command: What the launcher starts: the training program, with its options and a limit of 10 to 15 steps.
            compile_cache: Cache to fill.
            method: ``neuron-parallel-compile`` or ``first-steps``. Default: the former.
            phase: ``all``, ``collect`` (graphs only) or ``compile`` (graphs that were collected before). Of
                neuron-parallel-compile only. Default: all.
            for_instance_type: Type that the graphs are for. Default: that of the queue.
            processes_per_node: Processes that torchrun starts. Default: one for each logical NeuronCore.
            retries: How often neuron_parallel_compile compiles again what failed; small nodes run out of memory
                when they compile many graphs side by side. Default: once.
            neuron: Settings of compiler and runtime, the same as those of the training job. Default: none.
            environment: More environment variables. Default: none.
            timeout: When an attempt is ended. Default: never.
            attempts: How often the job is started when its host is lost, 1 to 10. What has been compiled stays in
                the cache. Default: 3 times.
            launcher: ``torchrun``, ``jax`` or ``raw``, as for `MultiNodeJob`. Default: ``torchrun``.
            after: Jobs that have to succeed before. Default: none.

        Raises:
            FindingsError: If graphs would be collected on another family of chips (UC6114), a phase is asked of the
                first steps (UC6112), or for what `SingleNodeJob` refuses.
        """
        machine = queue.nodes.instance_type
        target = (
            get_instance_type(for_instance_type)
            if isinstance(for_instance_type, str)
            else for_instance_type or machine
        )
        self._target = compile_target(target)
        elsewhere = compile_target(machine) != self._target
        own = {} if method == "first-steps" else {_RETRIES: str(retries)}
        # Without it, the compiler compiles for the chips that it sees.
        own |= {_TARGET: self._target} if elsewhere else {}
        super().__init__(
            scope,
            construct_id,
            queue=queue,
            image=image,
            command=command,
            node_count=1,
            processes_per_node=processes_per_node,
            launcher=launcher,
            compile_cache=compile_cache,
            neuron=neuron,
            environment=environment,
            attempts=attempts,
            after=after,
            own_environment=own,
            findings=[
                *(finding.at("phase") for finding in check_phase(method, phase)),
                *(
                    finding.at("for_instance_type")
                    for finding in check_compile_type(machine, target, phase=phase)
                ),
            ],
        )
        self._collects = phase != "compile"
        self._define(
            type="container",
            timeout=timeout,
            tags={QUEUE_TAG: queue.job_queue_arn},
            container_properties=self._container(_command(command, launcher, method=method, phase=phase)),
        )

    def doubts_about(self, job: Job) -> list[Finding]:
        """Find why graphs of this job would not be those of another.

        Args:
            job: The job that waits for this one.

        Returns:
            One warning (UC6115) with every difference.
        """
        machine = job.queue.nodes.instance_type
        differences = [
            f"{name} is another one"
            for name in _DECIDES
            if self.environment.get(name) != job.environment.get(name)
        ]
        if not machine.is_neuron or compile_target(machine) != self._target:
            differences.append(f"it compiles for {self._target}, not for {machine.name}")
        if self.image != job.image:
            differences.append("the image is another one, and with it perhaps the compiler")
        if self._collects and self.workers != job.workers:
            differences.append(
                f"it has {self.workers} workers, not {job.workers}: graphs with collectives over all differ"
            )
        return [
            finding.at("after") for finding in warn_of_other_graphs(self.node.id, job.node.id, differences)
        ]


def _command(command: Sequence[str], launcher: Launcher, *, method: str, phase: str) -> list[str]:
    if method == "first-steps":
        return launch_command(command, launcher)
    options = [] if phase == "all" else ["--command", phase]
    return ["neuron_parallel_compile", *options, *launch_command(command, launcher)]
