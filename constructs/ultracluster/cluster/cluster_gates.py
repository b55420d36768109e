"""The gates of a cluster: jobs that look at its nodes before a paid job starts on them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from aws_cdk import Duration, Tags
from constructs import Construct

from ultracluster.images.container_image import ContainerImage
from ultracluster.jobs.job import Job
from ultracluster.scheduling.training_queue import TrainingQueue
from ultracluster.storage.compile_cache import CompileCache
from ultracluster.storage.posix_compile_cache import PosixCompileCache
from ultracluster_catalog.names.submission_tags import QUEUE_TAG
from ultracluster_catalog.neuron.neuron_settings import NeuronSettings

if TYPE_CHECKING:
    from ultracluster.jobs.fabric_gate import FabricGate
    from ultracluster.jobs.smoke_train import SmokeTrain

__all__ = ["ClusterGates"]


class ClusterGates(Construct):
    """The part of `UltraCluster` that adds gates."""

    _compile_cache: CompileCache | PosixCompileCache
    _queue: TrainingQueue

    def add_fabric_gate(
        self,
        construct_id: str,
        *,
        image: str | ContainerImage,
        node_count: int | None = None,
        neuron: NeuronSettings | None = None,
        min_bandwidth: float | None = None,
        max_latency: float | None = None,
        patience: Duration | None = None,
        depends_on: Sequence[Job] = (),
        queue: TrainingQueue | None = None,
    ) -> "FabricGate":
        """Add a job that refuses a fabric on which training would hang or crawl; name it in `depends_on` of that job.

        Args:
            construct_id: Its id in the cluster.
            image: Image of the job that it protects.
            node_count: Nodes of that job. Default: all nodes of the cluster.
            neuron: Settings of that job. Default: their own defaults.
            min_bandwidth: GiB/s that an all-reduce of 1 GiB must reach. Default: any.
            max_latency: Microseconds that an all-reduce of 1 KiB may take. Default: any.
            patience: How long to wait for the nodes, and then for nccom-test. Default: 15 minutes each.
            depends_on: Jobs that have to succeed before. Default: none.
            queue: Queue of that job. Default: the cluster's own.

        Raises:
            FindingsError: If the gate does not fit the cluster.
        """
        from ultracluster.jobs.fabric_gate import FabricGate  # noqa: PLC0415 - of some clusters only

        job = FabricGate(
            self,
            construct_id,
            queue=queue or self._queue,
            image=image,
            node_count=node_count,
            neuron=neuron,
            min_bandwidth=min_bandwidth,
            max_latency=max_latency,
            patience=patience,
            depends_on=depends_on,
        )
        self._name_queue(job)
        return job

    def add_smoke_train(
        self,
        construct_id: str,
        *,
        image: str | ContainerImage,
        node_count: int | None = None,
        processes_per_node: int | None = None,
        neuron: NeuronSettings | None = None,
        device: Literal["xla", "neuron", "cuda"] | None = None,
        steps: int = 5,
        timeout: Duration | None = None,
        depends_on: Sequence[Job] = (),
        queue: TrainingQueue | None = None,
    ) -> "SmokeTrain":
        """Add a job that finds cores and links which compute or deliver wrongly; name it in `depends_on` of that job.

        Args:
            construct_id: Its id in the cluster.
            image: Image of the job that it protects.
            node_count: Nodes of that job. Default: all nodes of the cluster.
            processes_per_node: Processes on each node. Default: one for each logical NeuronCore or GPU.
            neuron: Settings of that job. Default: their own defaults.
            device: ``xla``, ``neuron`` or ``cuda``. Default: ``xla`` on Neuron types, else ``cuda``.
            steps: Steps of training, 2 or more. Default: 5.
            timeout: When it is ended. Default: after 30 minutes.
            depends_on: Jobs that have to succeed before, such as a `FabricGate`. Default: none.
            queue: Queue of that job. Default: the cluster's own.

        Raises:
            FindingsError: If the job does not fit the cluster.
        """
        from ultracluster.jobs.smoke_train import SmokeTrain  # noqa: PLC0415 - of some clusters only

        job = SmokeTrain(
            self,
            construct_id,
            queue=queue or self._queue,
            image=image,
            node_count=node_count,
            processes_per_node=processes_per_node,
            compile_cache=self._compile_cache,
            neuron=neuron,
            device=device,
            steps=steps,
            timeout=timeout,
            depends_on=depends_on,
        )
        self._name_queue(job)
        return job

    def _name_queue(self, job: Job) -> None:
        if job.queue is not self._queue:
            Tags.of(job).add(
                QUEUE_TAG, job.queue.job_queue_arn, include_resource_types=["AWS::Batch::JobDefinition"]
            )
