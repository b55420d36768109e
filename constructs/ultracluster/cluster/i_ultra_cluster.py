"""Jobs, grants and metrics of a cluster, whether this app or another one creates it."""

from collections.abc import Sequence
from functools import reduce
from typing import Literal, TypeVar, Unpack

from aws_cdk import Duration, Tags
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from constructs import Construct

from ultracluster._foundation.cluster_name import name_cluster
from ultracluster._foundation.metric_options import MetricOptions
from ultracluster.jobs.cluster_job import ClusterJob
from ultracluster.jobs.fabric_gate import FabricGate
from ultracluster.jobs.job_options import GateOptions, JobOptions
from ultracluster.jobs.multi_node_job import MultiNodeJob
from ultracluster.jobs.single_node_job import SingleNodeJob
from ultracluster.jobs.smoke_train import SmokeTrain
from ultracluster.nodes.node_metrics import cluster_metric
from ultracluster.scheduling.i_training_queue import ITrainingQueue
from ultracluster.storage.checkpoint_bucket import CheckpointBucket
from ultracluster.storage.compile_cache import CompileCache
from ultracluster.storage.posix_compile_cache import PosixCompileCache
from ultracluster_catalog.names.submission_tags import QUEUE_TAG
from ultracluster_spec.arguments import validate_arguments
from ultracluster_spec.findings import FindingsError, quote, reject, require
from ultracluster_spec.job import Job

_Job = TypeVar("_Job", bound=ClusterJob)


class IUltraCluster(Construct):
    """A cluster, created by `UltraCluster` or imported by `UltraCluster.from_ultra_cluster_attributes`.

    It is a base class, because jsii interfaces cannot be declared in Python.
    """

    checkpoint_bucket: CheckpointBucket | None
    """Bucket for checkpoints, if there is one."""
    cluster_name: str
    """Name of the cluster in its metrics."""
    compile_cache: CompileCache | PosixCompileCache | None
    """Neuron compile cache, if there is one."""
    queue: ITrainingQueue
    """Main job queue."""

    @validate_arguments
    def add_multi_node_job(
        self,
        construct_id: str,
        job: Job,
        *,
        queue: ITrainingQueue | None = None,
        **options: Unpack[JobOptions],
    ) -> MultiNodeJob:
        """Add a job over several nodes, with the queue, compile cache and checkpoint bucket of the cluster.

        Args:
            construct_id: Construct ID in the cluster.
            job: Description of the job.
            queue: Another queue of the cluster. Default: its main queue.
            **options: Arguments of `JobOptions`.

        Raises:
            FindingsError: If `MultiNodeJob` rejects an argument.
        """
        self._check_id(construct_id)
        made = MultiNodeJob(
            self,
            construct_id,
            job,
            queue=queue or self.queue,
            compile_cache=self.compile_cache,
            meeting_place=self._meeting_place(queue),
            **options,
        )
        return self._let_resume(self._tag_queue(self._grant_checkpoints(made)))

    @validate_arguments
    def add_single_node_job(
        self,
        construct_id: str,
        job: Job,
        *,
        queue: ITrainingQueue | None = None,
        **options: Unpack[JobOptions],
    ) -> SingleNodeJob:
        """Add a job on one node, or an array of them, with the queue, compile cache and checkpoint bucket of the cluster.

        Args:
            construct_id: Construct ID in the cluster.
            job: Description of the job.
            queue: Another queue of the cluster. Default: its main queue.
            **options: Arguments of `JobOptions`.

        Raises:
            FindingsError: If `SingleNodeJob` rejects an argument.
        """
        self._check_id(construct_id)
        made = SingleNodeJob(
            self,
            construct_id,
            job,
            queue=queue or self.queue,
            compile_cache=self.compile_cache,
            **options,
        )
        return self._let_resume(self._tag_queue(self._grant_checkpoints(made)))

    @validate_arguments
    def add_fabric_gate(
        self,
        construct_id: str,
        *,
        queue: ITrainingQueue | None = None,
        node_count: int | None = None,
        min_bandwidth: float | None = None,
        max_latency: float | None = None,
        patience: Duration | None = None,
        **options: Unpack[GateOptions],
    ) -> FabricGate:
        """Add a gate that rejects nodes whose network fabric would make training hang or crawl.

        Args:
            construct_id: Construct ID in the cluster.
            queue: Queue of the job that the gate protects. Default: the main queue of the cluster.
            node_count: Number of nodes of that job. Default: all nodes of the queue.
            min_bandwidth: Bus bandwidth in GiB/s that an all-reduce of 1 GiB must reach. Default: no limit.
            max_latency: Latency in microseconds that an all-reduce of 1 KiB must not exceed. Default: no limit.
            patience: How long to wait for the nodes, and again for nccom-test. Default: 15 minutes.
            **options: Image, Neuron settings and dependencies as in `GateOptions`.

        Raises:
            FindingsError: If `FabricGate` rejects an argument.
        """
        self._check_id(construct_id)
        gate = FabricGate(
            self,
            construct_id,
            queue=queue or self.queue,
            node_count=node_count,
            min_bandwidth=min_bandwidth,
            max_latency=max_latency,
            patience=patience,
            meeting_place=self._meeting_place(queue),
            **options,
        )
        return self._tag_queue(gate)

    @validate_arguments
    def add_smoke_train(
        self,
        construct_id: str,
        *,
        queue: ITrainingQueue | None = None,
        node_count: int | None = None,
        processes_per_node: int | None = None,
        device: Literal["xla", "neuron", "cuda"] | None = None,
        steps: int = 5,
        timeout: Duration | None = None,
        **options: Unpack[GateOptions],
    ) -> SmokeTrain:
        """Add a gate that finds cores and links with wrong results.

        Args:
            construct_id: Construct ID in the cluster.
            queue: Queue of the job that the gate protects. Default: the main queue of the cluster.
            node_count: Number of nodes of that job. Default: all nodes of the queue.
            processes_per_node: Processes on each node. Default: one per logical NeuronCore or GPU.
            device: ``xla``, ``neuron`` or ``cuda``, see `SmokeTrain`. Default: ``xla`` on Neuron types, otherwise ``cuda``.
            steps: Training steps, at least 2. Default: 5.
            timeout: Maximum duration, compilation included. Default: 30 minutes.
            **options: Image, Neuron settings and dependencies as in `GateOptions`.

        Raises:
            FindingsError: If `SmokeTrain` rejects an argument.
        """
        self._check_id(construct_id)
        gate = SmokeTrain(
            self,
            construct_id,
            queue=queue or self.queue,
            node_count=node_count,
            processes_per_node=processes_per_node,
            compile_cache=self.compile_cache,
            device=device,
            steps=steps,
            timeout=timeout,
            meeting_place=self._meeting_place(queue),
            **options,
        )
        return self._tag_queue(gate)

    def _check_id(self, construct_id: str) -> None:
        """Refuse the ID of a part of the cluster, also of one that is made later, and of another job (UC2161)."""
        later = construct_id == "JobResume" or construct_id.startswith(("Queue-", "Precompile-"))
        reject(
            require(
                not later and self.node.try_find_child(construct_id) is None,
                "UC2161",
                f"{quote(construct_id)} is the ID of a part of the cluster, or of another job",
                allowed="an ID that nothing else of the cluster has",
                remedy=f'Choose another, such as "{construct_id}Job"',
                path="construct_id",
            )
        )

    def _meeting_place(self, queue: ITrainingQueue | None) -> CheckpointBucket | None:
        """Return the bucket in which the children of arrays meet on nodes without a file system."""
        queue = queue or self.queue
        return None if queue.is_managed or queue.nodes.file_system else self.checkpoint_bucket

    def _grant_checkpoints(self, job: _Job) -> _Job:
        if self.checkpoint_bucket is not None:
            self.checkpoint_bucket.grant_use(job)
        return job

    def _tag_queue(self, job: _Job) -> _Job:
        if job.queue is not self.queue:
            owners = [scope for scope in job.queue.node.scopes if isinstance(scope, IUltraCluster)]
            if owners and self not in owners:
                raise FindingsError.message(
                    f"got {quote(job.queue.node.path)}, a queue of another cluster",
                    allowed="a queue of this cluster",
                    remedy="Add the job to the other cluster",
                    path="queue",
                )
            Tags.of(job).add(
                QUEUE_TAG, job.queue.job_queue_arn, include_resource_types=["AWS::Batch::JobDefinition"]
            )
        return job

    def _let_resume(self, job: _Job) -> _Job:
        return job  # an imported cluster cannot submit it again, and `check_job` refuses `resume`

    def _queues(self) -> Sequence[ITrainingQueue]:
        return [self.queue]

    @validate_arguments
    def grant_submit(self, grantee: iam.IGrantable) -> iam.Grant:
        """Grant permission to submit the jobs of this stack to the queues that the cluster has so far.

        Args:
            grantee: Principal to grant permissions to.
        """
        return reduce(iam.Grant.combine, [queue.grant_submit(grantee) for queue in self._queues()])

    @validate_arguments
    def grant_read(self, grantee: iam.IGrantable) -> iam.Grant:
        """Grant permission to list and describe jobs and to read their logs, as `ultracluster jobs` does.

        Args:
            grantee: Principal to grant permissions to.
        """
        return reduce(iam.Grant.combine, [queue.grant_read(grantee) for queue in self._queues()])

    @validate_arguments
    def metric(self, metric_name: str, **options: Unpack[MetricOptions]) -> cloudwatch.Metric:
        """Return a metric of the cluster: of training programs and, with alarms, of nodes and the queue.

        Args:
            metric_name: One of `ultracluster_catalog.METRICS`, such as ``Loss``.
            **options: Arguments of `MetricOptions`, such as ``period``. The default statistic is the average.

        Raises:
            FindingsError: If there is no such metric (UC6442).
        """
        return cluster_metric(self.cluster_name, metric_name, **options)

    def metric_core_utilization(self, **options: Unpack[MetricOptions]) -> cloudwatch.Metric:
        """Return the utilization of the NeuronCores in percent; `**options` as for `metric`."""
        return self.metric("CoreUtilization", **options)

    def metric_tokens_per_second(self, **options: Unpack[MetricOptions]) -> cloudwatch.Metric:
        """Return the tokens that training programs process in a second; `**options` as for `metric`."""
        return self.metric("TokensPerSecond", **options)

    def metric_unused_nodes(self, **options: Unpack[MetricOptions]) -> cloudwatch.Metric:
        """Return the number of paid instances in which nothing runs; `**options` as for `metric`."""
        return self.metric("UnusedNodes", **options)


class ImportedCluster(IUltraCluster):
    """Cluster returned by `UltraCluster.from_ultra_cluster_attributes`."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster_name: str,
        queue: ITrainingQueue,
        compile_cache: CompileCache | PosixCompileCache | None,
        checkpoint_bucket: CheckpointBucket | s3.IBucket | None,
    ) -> None:
        """Keep what jobs use of the cluster."""
        super().__init__(scope, construct_id)
        name_cluster(self, cluster_name)
        self.cluster_name = cluster_name
        self.queue = queue
        self.compile_cache = compile_cache
        self.checkpoint_bucket = (
            checkpoint_bucket
            if isinstance(checkpoint_bucket, CheckpointBucket | None)
            else CheckpointBucket.from_bucket(self, "Checkpoints", checkpoint_bucket)
        )
