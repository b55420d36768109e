"""The jobs of a cluster: each gets the cluster's queue, file system, compile cache and checkpoint bucket."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from aws_cdk import Duration

from ultracluster.cluster.cluster_gates import ClusterGates
from ultracluster.images.container_image import ContainerImage
from ultracluster.jobs.job import Job
from ultracluster.jobs.launcher import Launcher
from ultracluster.jobs.multi_node_job import MultiNodeJob
from ultracluster.nodes.node_group import NodeGroup
from ultracluster.scheduling.training_queue import TrainingQueue
from ultracluster.storage.checkpoint_bucket import CheckpointBucket
from ultracluster_catalog.machines.instance_type import InstanceType
from ultracluster_catalog.neuron.neuron_settings import NeuronSettings

if TYPE_CHECKING:
    from ultracluster.jobs.precompile_job import PrecompileJob
    from ultracluster.jobs.single_node_job import SingleNodeJob

__all__ = ["ClusterJobs"]


class ClusterJobs(ClusterGates):
    """The part of `UltraCluster` that adds jobs."""

    _checkpoint_bucket: CheckpointBucket | None
    _node_groups: tuple[NodeGroup, ...]

    def add_multi_node_job(
        self,
        construct_id: str,
        *,
        image: str | ContainerImage,
        command: Sequence[str],
        node_count: int | None = None,
        processes_per_node: int | None = None,
        neuron: NeuronSettings | None = None,
        environment: Mapping[str, str] | None = None,
        timeout: Duration | None = None,
        attempts: int = 1,
        launcher: Launcher = "torchrun",
        depends_on: Sequence[Job] = (),
        queue: TrainingQueue | None = None,
        without_efa: bool = False,
    ) -> MultiNodeJob:
        """Add a job that uses the cluster's queue, file system, compile cache and checkpoint bucket.

        Args:
            construct_id: Its id in the cluster.
            image: Container image with a tag or digest.
            command: Program and arguments that the launcher starts.
            node_count: Nodes of the job. Default: all nodes of the cluster.
            processes_per_node: Processes on each node. Default: one for each logical NeuronCore.
            neuron: Settings of the Neuron compiler and runtime. Default: their own defaults.
            environment: More environment variables. Default: none.
            timeout: When an attempt is ended. Default: never.
            attempts: How often the job is started when its host is lost, 1 to 10. Default: once.
            launcher: ``torchrun``, ``jax`` or ``raw``. Default: ``torchrun``.
            depends_on: Jobs that have to succeed before; `ultracluster jobs submit` submits them first. Default: none.
            queue: Queue of the cluster that `ultracluster jobs submit` gives it to. Default: the cluster's own.
            without_efa: Whether several nodes of a type without EFA are meant. Default: they are refused.

        Raises:
            FindingsError: If the job does not fit the cluster.
        """
        job = MultiNodeJob(
            self,
            construct_id,
            queue=queue or self._queue,
            image=image,
            command=command,
            node_count=node_count,
            processes_per_node=processes_per_node,
            compile_cache=self._compile_cache,
            neuron=neuron,
            environment=environment,
            timeout=timeout,
            attempts=attempts,
            launcher=launcher,
            depends_on=depends_on,
            without_efa=without_efa,
        )
        self._grant_checkpoints(job)
        self._name_queue(job)
        return job

    def add_single_node_job(
        self,
        construct_id: str,
        *,
        image: str | ContainerImage,
        command: Sequence[str],
        processes_per_node: int | None = None,
        array_size: int | None = None,
        neuron: NeuronSettings | None = None,
        environment: Mapping[str, str] | None = None,
        timeout: Duration | None = None,
        attempts: int = 3,
        launcher: Launcher = "torchrun",
        depends_on: Sequence[Job] = (),
        queue: TrainingQueue | None = None,
    ) -> "SingleNodeJob":
        """Add a job of one node, or an array of them, with what the cluster gives to each job.

        Args:
            construct_id: Its id in the cluster.
            image: Container image with a tag or digest.
            command: Program and arguments that the launcher starts.
            processes_per_node: Processes on the node. Default: one for each logical NeuronCore.
            array_size: Jobs of an array, 2 to 10,000. Default: one job and no array.
            neuron: Settings of the Neuron compiler and runtime. Default: their own defaults.
            environment: More environment variables. Default: none.
            timeout: When an attempt is ended. Default: never.
            attempts: How often the job is started when its host is lost, 1 to 10. Default: 3 times.
            launcher: ``torchrun``, ``jax`` or ``raw``. Default: ``torchrun``.
            depends_on: Jobs that have to succeed before; `ultracluster jobs submit` submits them first. Default: none.
            queue: Queue of the cluster that `ultracluster jobs submit` gives it to. Default: the cluster's own.

        Raises:
            FindingsError: If the job does not fit the cluster.
        """
        from ultracluster.jobs.single_node_job import SingleNodeJob  # noqa: PLC0415 - of some clusters only

        job = SingleNodeJob(
            self,
            construct_id,
            queue=queue or self._queue,
            image=image,
            command=command,
            processes_per_node=processes_per_node,
            array_size=array_size,
            compile_cache=self._compile_cache,
            neuron=neuron,
            environment=environment,
            timeout=timeout,
            attempts=attempts,
            launcher=launcher,
            depends_on=depends_on,
        )
        self._grant_checkpoints(job)
        self._name_queue(job)
        return job

    def add_precompile_job(
        self,
        construct_id: str,
        *,
        image: str | ContainerImage,
        command: Sequence[str],
        instance_type: str | InstanceType | None = None,
        queue: TrainingQueue | None = None,
        method: Literal["neuron-parallel-compile", "first-steps"] = "neuron-parallel-compile",
        phase: Literal["all", "collect", "compile"] = "all",
        processes_per_node: int | None = None,
        retries: int = 1,
        neuron: NeuronSettings | None = None,
        environment: Mapping[str, str] | None = None,
        timeout: Duration | None = None,
        attempts: int = 3,
        launcher: Launcher = "torchrun",
        depends_on: Sequence[Job] = (),
    ) -> "PrecompileJob":
        """Add a job that fills the cluster's compile cache on one on-demand node outside its capacity.

        The node's queue is added with the first such job of its type; an idle one costs nothing.

        Args:
            construct_id: Its id in the cluster.
            image: The image of the training job.
            command: What the launcher starts: the training program with a limit of 10 to 15 steps.
            instance_type: Type of the node. Default: the smallest with the chips of the cluster's nodes that is
                known to be offered in its zone.
            queue: Queue to use instead of a new one, such as the cluster's own. Default: none.
            method: ``neuron-parallel-compile`` or ``first-steps``. Default: the former.
            phase: ``all``, ``collect`` or ``compile``, as for `PrecompileJob`. Default: all.
            processes_per_node: Processes that torchrun starts. Default: one for each logical NeuronCore.
            retries: How often a failed compilation is tried again. Default: once.
            neuron: Settings of compiler and runtime, the same as those of the training job. Default: none.
            environment: More environment variables. Default: none.
            timeout: When an attempt is ended. Default: never.
            attempts: How often the job is started when its host is lost, 1 to 10. Default: 3 times.
            launcher: ``torchrun``, ``jax`` or ``raw``. Default: ``torchrun``.
            depends_on: Jobs that have to succeed before. Default: none.

        Raises:
            FindingsError: If no type is known to be offered (UC6116), or the job refuses its arguments.
        """
        from ultracluster.jobs.precompile_job import PrecompileJob  # noqa: PLC0415 - of few clusters
        from ultracluster.jobs.precompile_queue import precompile_queue  # noqa: PLC0415 - likewise

        job = PrecompileJob(
            self,
            construct_id,
            queue=queue or precompile_queue(self, cluster=self._node_groups[0], instance_type=instance_type),
            image=image,
            command=command,
            compile_cache=self._compile_cache,
            method=method,
            phase=phase,
            for_instance_type=self._node_groups[0].instance_type,
            processes_per_node=processes_per_node,
            retries=retries,
            neuron=neuron,
            environment=environment,
            timeout=timeout,
            attempts=attempts,
            launcher=launcher,
            depends_on=depends_on,
        )
        self._grant_checkpoints(job)
        return job

    def _grant_checkpoints(self, job: Job) -> None:
        if self._checkpoint_bucket is not None:
            self._checkpoint_bucket.grant_use(job)
