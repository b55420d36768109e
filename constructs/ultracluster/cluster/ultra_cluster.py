"""A whole cluster, composed of the other constructs."""

from collections.abc import Mapping, Sequence
from typing import Literal, TypeVar, Unpack, cast

from aws_cdk import Annotations, Duration, Tags
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from constructs import Construct

from ultracluster._foundation.cluster_name import cluster_name, tag_resources
from ultracluster.capacity.capacity import Capacity, CapacityBlock
from ultracluster.capacity.sources import check_main_queue, named, sources_of, used_by_queue
from ultracluster.compliance.cluster_key import let_services_use
from ultracluster.jobs.fabric_gate import FabricGate
from ultracluster.jobs.job import Job
from ultracluster.jobs.job_options import GateOptions, JobOptions
from ultracluster.jobs.multi_node_job import MultiNodeJob
from ultracluster.jobs.precompile_job import PrecompileJob, precompile_queue
from ultracluster.jobs.single_node_job import SingleNodeJob
from ultracluster.jobs.smoke_train import SmokeTrain
from ultracluster.network.cluster_network import ClusterNetwork
from ultracluster.nodes.cluster_placement import ClusterPlacement, placement_of
from ultracluster.nodes.node_fleet import NodeFleet
from ultracluster.nodes.node_group import JoinedCluster, NodeGroup
from ultracluster.nodes.node_metrics import NodeMetrics
from ultracluster.operations.alarm_settings import AlarmSettings
from ultracluster.operations.block_lifecycle import BlockLifecycle
from ultracluster.operations.cluster_alarms import ClusterAlarms
from ultracluster.operations.cluster_watch import ClusterWatch
from ultracluster.operations.job_resume import JobResume
from ultracluster.operations.notifications import Notifications
from ultracluster.scheduling.fair_share import FairShare
from ultracluster.scheduling.training_queue import TrainingQueue
from ultracluster.scheduling.unmanaged_environment import UnmanagedEnvironment
from ultracluster.scheduling.wait_limits import WaitLimits
from ultracluster.storage.checkpoint_bucket import CheckpointBucket
from ultracluster.storage.compile_cache import CompileCache
from ultracluster.storage.posix_compile_cache import PosixCompileCache
from ultracluster.storage.shared_file_system import SharedFileSystem
from ultracluster_catalog.limits.queues import QUEUE_NAME_TAG
from ultracluster_catalog.machines.instance_type import InstanceType
from ultracluster_catalog.machines.nic_layouts import NicLayout
from ultracluster_catalog.names.submission_tags import QUEUE_TAG
from ultracluster_rules.alarms import check_recipients, warn_of_missing_recipients
from ultracluster_rules.findings import FindingsError
from ultracluster_rules.machines import check_whole_ultraservers, get_instance_type
from ultracluster_rules.numbers import rejects_unsafe_numbers

_Job = TypeVar("_Job", bound=Job)


class UltraCluster(Construct):
    """Nodes of one type in one Availability Zone, with network, storage, compile cache and a job queue.

    Parts that are passed in are used as they are; the others are created.
    """

    @rejects_unsafe_numbers
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        instance_type: str | InstanceType,
        node_count: int,
        image_id: str,
        capacity: Capacity | Sequence[Capacity] | None = None,
        zone_id: str | None = None,
        network: ClusterNetwork | None = None,
        checkpoint_bucket: CheckpointBucket | None = None,
        file_system: SharedFileSystem | None = None,
        compile_cache: CompileCache | PosixCompileCache | None = None,
        nic_layout: NicLayout | None = None,
        placement: ClusterPlacement | Literal["auto", "none"] = "auto",
        tags: Mapping[str, str] | None = None,
        checkpoint_lead: Duration | None = None,
        max_refusals: int = 3,
        scratch_path: str | None = None,
        queue_sources: Sequence[str | None] | None = None,
        queue_priority: int = 1,
        fair_share: FairShare | None = None,
        wait_limits: WaitLimits | None = None,
        alarms: AlarmSettings | Literal["auto", "none"] = "auto",
        notify: Sequence[str] | sns.ITopic = (),
        kms_key: kms.IKey | None = None,
    ) -> None:
        """Define the cluster.

        Args:
            scope: Parent construct.
            construct_id: Construct ID.
            instance_type: Type of the nodes, such as ``trn2.48xlarge``, or a custom `InstanceType`.
            node_count: Maximum number of nodes of each capacity source at one time, 1 to 1000, unless the source has its own
                `max_nodes`.
            image_id: ID of an AMI with the Neuron and EFA drivers, the ECS agent and the Lustre client.
            capacity: One capacity source, or several in order of preference, up to three per queue. Each gets its own launch
                template and compute environment, distinguished by the name of the source; one source may have no name.
                Default: On-Demand in a cluster placement group.
            zone_id: Availability Zone ID of On-Demand nodes, such as ``use2-az3``. Default: the zone of the capacity.
            network: Network to use. Default: a new network without internet access.
            checkpoint_bucket: Bucket for checkpoints. Default: a new bucket, or none if `file_system` is set.
            file_system: File system to use. Default: a new one of 4,800 GiB, linked to the checkpoint bucket.
            compile_cache: Compile cache to use. Default: a new one.
            nic_layout: Network interface layout of a new network: ``batch``, ``ec2-guide``, ``all-efa``, or a sequence of
                network interfaces. Cannot be combined with `network`. Default: ``batch``.
            placement: ``auto``, ``none``, or a cluster placement group for the sources that can use one; Capacity Blocks,
                Spot, and reservations with their own group cannot. Default: ``auto``, a new group for On-Demand nodes.
            tags: Tags for instances, volumes and network interfaces, in addition to those of ``Tags.of``. All resources
                get ``ultracluster:cluster``, the name of the stack unless set here. Default: none.
            checkpoint_lead: How long before the drain of a Capacity Block running jobs are notified to write a checkpoint.
                Default: 20 minutes.
            max_refusals: Number of nodes of a Capacity Block that refuse to join one after another before its compute
                environment is closed, 1 to 100. Default: 3.
            scratch_path: Mount point of the instance store volumes, striped into one, such as ``/scratch``; requires an AMI
                with mdadm. Default: the volumes are not mounted.
            queue_sources: Names of the sources that the main queue uses, in order of preference; None is the source without a
                name. Others are for queues of `add_queue`, such as Spot nodes, on which multi-node jobs cannot run.
                Default: all sources.
            queue_priority: Priority among queues that share nodes, 0 to 1000; higher is first. Default: 1.
            fair_share: How the queue divides the nodes among share identifiers. Default: first in, first out.
            wait_limits: When to cancel a job that waits at the head of the queue. Default: `WaitLimits.for_sources`.
            alarms: Alarm recipients and thresholds, ``auto`` or ``none``. Alarms add metrics of every node and a function that
                watches the cluster; adding them to an existing cluster replaces its nodes. Default: ``auto``, alarms with
                default thresholds if there is a Capacity Block, otherwise none.
            notify: Recipients of notifications about alarms, nodes that refuse to join, interrupted jobs and the end of Capacity Blocks: mail
                addresses, each of which must confirm, or an SNS topic, or its ARN. Alarms with recipients of their own
                notify those. Default: the recipients of the alarms; without any, a Capacity Block is warned of (UC6448).
            kms_key: Key for all new resources that store data: buckets, file system, root volumes, logs and topics. The
                services around the cluster are added to the policy of a key of the app; that of an imported key must
                allow them, as `ClusterKey` does (UC5251). Changing this in an existing cluster replaces the file system.
                Default: AWS managed or AWS owned keys.

        Raises:
            FindingsError: If a recipient is neither an address nor a topic (UC6449), neither `capacity`, `network` nor `zone_id` determines the Availability Zone (UC4022), `network`
                and `nic_layout` are both set (UC3110), two sources are the same reservation (UC4127), the main queue leaves
                out a Capacity Block (UC6314), or a part rejects its arguments.
        """
        sources = sources_of(capacity)
        check_main_queue(sources, queue_sources)
        if isinstance(notify, (list, tuple)) and (findings := check_recipients(notify, region=None)):
            raise FindingsError(findings)
        has_block = any(isinstance(source, CapacityBlock) for source in sources)
        settings = _alarm_settings(alarms, has_block=has_block)
        zone = (
            zone_id
            or next((source.zone_id for source in sources if source and source.zone_id), None)
            or (network.zone_id if network else None)
        )
        if zone is None:
            raise FindingsError.of(
                "UC4022",
                "the Availability Zone of the nodes is not set",
                remedy='Set capacity, network, or zone_id, such as "use2-az3"',
                path="zone_id",
            )
        if network is not None and nic_layout is not None:
            problem = "the network defines the layout of network interfaces, for which it was sized"
            remedy = "Set nic_layout of the network"
            raise FindingsError.of("UC3110", problem, remedy=remedy, path="nic_layout")
        super().__init__(scope, construct_id)
        for finding in check_whole_ultraservers(get_instance_type(instance_type), node_count):
            Annotations.of(self).add_warning_v2(f"ultracluster:{finding.code}", str(finding))
        topic = (
            cast("sns.ITopic | None", notify or None)
            if not isinstance(notify, (list, tuple)) or not notify
            else Notifications(self, "Notify", recipients=notify, kms_key=kms_key).topic
        )
        if has_block and topic is None and not (settings and (settings.emails or settings.topic)):
            finding = warn_of_missing_recipients()
            Annotations.of(self).add_warning_v2(f"ultracluster:{finding.code}", str(finding))
        for finding in let_services_use(kms_key, self) if kms_key else ():
            Annotations.of(self).add_warning_v2(f"ultracluster:{finding.code}", str(finding))
        self._network = network or ClusterNetwork(
            self,
            "Network",
            zone_id=zone,
            instance_type=instance_type,
            node_count=sum((source.max_nodes if source else None) or node_count for source in sources),
            nic_layout="batch" if nic_layout is None else nic_layout,
        )
        if file_system is None:
            checkpoint_bucket = checkpoint_bucket or CheckpointBucket(self, "Checkpoints", kms_key=kms_key)
            file_system = SharedFileSystem(
                self,
                "FileSystem",
                network=self._network,
                checkpoint_bucket=checkpoint_bucket,
                kms_key=kms_key,
            )
        self._checkpoint_bucket = checkpoint_bucket
        self._file_system = file_system
        self._compile_cache = compile_cache or CompileCache(self, "CompileCache", kms_key=kms_key)
        self._metrics = (
            NodeMetrics(
                self, "Metrics", cluster_name=settings.cluster_name or cluster_name(self), kms_key=kms_key
            )
            if settings
            else None
        )
        self._node_groups = tuple(
            NodeGroup(
                self,
                named("Nodes", source),
                network=self._network,
                instance_type=instance_type,
                image_id=image_id,
                capacity=source,
                placement=placement_of(self, source, placement, alone=len(sources) == 1),
                file_system=file_system,
                scratch_path=scratch_path,
                tags=tags,
                metrics=self._metrics,
                kms_key=kms_key,
                joins=self._cluster_of(source, get_instance_type(instance_type).vcpus * node_count),
            )
            for source in sources
        )
        self._fleets = tuple(
            NodeFleet(
                self,
                named("Fleet", group.capacity),
                nodes=group,
                max_nodes=(group.capacity and group.capacity.max_nodes) or node_count,
            )
            for group in self._node_groups
            if group.joins
        )
        self._queue = TrainingQueue(
            self,
            "Queue",
            nodes=self._node_groups,
            max_nodes=node_count,
            sources=queue_sources,
            priority=queue_priority,
            fair_share=fair_share,
            wait_limits=wait_limits,
            kms_key=kms_key,
        )
        self._further_queues: list[TrainingQueue] = []
        self._watch: ClusterWatch | None = None
        self._alarms: ClusterAlarms | None = None
        if settings and self._metrics:
            self._define_alarms(
                settings, self._metrics, file_system=file_system, topic=topic, kms_key=kms_key
            )
        self._topic = topic or (self._alarms.topic if self._alarms else None)
        self._block_lifecycles = tuple(
            BlockLifecycle(
                self,
                named("BlockLifecycle", source),
                block=source,
                queue=self._queue,
                fleet=next((fleet for fleet in self._fleets if fleet.nodes.capacity is source), None),
                checkpoint_lead=checkpoint_lead,
                max_refusals=max_refusals,
                topic=self._topic,
                kms_key=kms_key,
            )
            for source in sources
            if isinstance(source, CapacityBlock)
        )
        self._kms_key = kms_key
        self._job_resume: JobResume | None = None
        tag_resources(self, self.nodes.cluster_name)

    def _cluster_of(self, source: Capacity | None, max_vcpus: int) -> JoinedCluster | None:
        """Define the cluster that nodes of a source join, unless AWS Batch starts them."""
        if source is None or source.launched_by == "batch":
            return None
        return UnmanagedEnvironment(self, named("Environment", source), max_vcpus=max_vcpus).cluster

    def _define_alarms(
        self,
        settings: AlarmSettings,
        metrics: NodeMetrics,
        *,
        file_system: SharedFileSystem | None,
        topic: sns.ITopic | None,
        kms_key: kms.IKey | None,
    ) -> None:
        self._watch = ClusterWatch(
            self, "Watch", metrics=metrics, queue=self._queue, node_groups=self._node_groups, kms_key=kms_key
        )
        self._alarms = ClusterAlarms(
            self,
            "Alarms",
            metrics=metrics,
            file_system=file_system,
            topic=settings.topic or (None if settings.emails else topic),
            emails=settings.emails,
            thresholds=settings.thresholds,
            kms_key=kms_key,
        )

    def add_queue(
        self,
        name: str,
        *,
        sources: Sequence[str | None] | None = None,
        priority: int = 1,
        fair_share: FairShare | None = None,
        wait_limits: WaitLimits | None = None,
    ) -> TrainingQueue:
        """Add a queue over the same nodes, with the same log group.

        Args:
            name: Name of the queue for `ultracluster jobs`; also part of its construct ID.
            sources: Names of the capacity sources that the queue uses, in order of preference; None is the source without a
                name. Default: all sources.
            priority: Priority among queues that share nodes, 0 to 1000; higher is first. Default: 1.
            fair_share: How the queue divides the nodes among share identifiers. Default: first in, first out.
            wait_limits: When to cancel a job that waits at the head of the queue. Default: `WaitLimits.for_sources`.

        Raises:
            FindingsError: If the cluster has no such source (UC6312), or the queue rejects its arguments.
        """
        environments = {
            environment.source_name: environment for environment in self._queue.dedicated_environments
        }
        used = used_by_queue([nodes.capacity for nodes in self._node_groups], sources, path="sources")
        queue = TrainingQueue(
            self,
            f"Queue-{name}",
            environments=[environments[source.name if source else None] for source in used],
            priority=priority,
            fair_share=fair_share,
            wait_limits=wait_limits,
            log_group=self._queue.log_group,
        )
        # `ultracluster jobs` finds the queue by this tag, because CloudFormation generates its name.
        Tags.of(queue).add(QUEUE_NAME_TAG, name, include_resource_types=["AWS::Batch::JobQueue"])
        for lifecycle in self._block_lifecycles:
            if lifecycle.block in used:
                lifecycle.watch(queue)
        if self._watch:
            self._watch.watch(queue)
        self._further_queues.append(queue)
        if self._job_resume:
            self._job_resume.watch(queue)
        return queue

    def add_multi_node_job(
        self,
        construct_id: str,
        *,
        queue: TrainingQueue | None = None,
        node_count: int | None = None,
        without_efa: bool = False,
        **options: Unpack[JobOptions],
    ) -> MultiNodeJob:
        """Add a job over several nodes, with the queue, compile cache and checkpoint bucket of the cluster.

        Args:
            construct_id: Construct ID in the cluster.
            queue: Another queue of the cluster. Default: its main queue.
            node_count: Number of nodes. Default: all nodes of the queue.
            without_efa: Allow several nodes of an instance type without EFA. Default: rejected.
            **options: Image, command and other arguments of `JobOptions`.

        Raises:
            FindingsError: If `MultiNodeJob` rejects an argument.
        """
        job = MultiNodeJob(
            self,
            construct_id,
            queue=queue or self._queue,
            compile_cache=self._compile_cache,
            node_count=node_count,
            without_efa=without_efa,
            **options,
        )
        return self._let_resume(self._tag_queue(self._grant_checkpoints(job)))

    def add_single_node_job(
        self,
        construct_id: str,
        *,
        queue: TrainingQueue | None = None,
        array_size: int | None = None,
        **options: Unpack[JobOptions],
    ) -> SingleNodeJob:
        """Add a job on one node, or an array of them, with the queue, compile cache and checkpoint bucket of the cluster.

        Args:
            construct_id: Construct ID in the cluster.
            queue: Another queue of the cluster. Default: its main queue.
            array_size: Number of jobs in the array, 2 to 10,000. Default: a single job.
            **options: Image, command and other arguments of `JobOptions`.

        Raises:
            FindingsError: If `SingleNodeJob` rejects an argument.
        """
        job = SingleNodeJob(
            self,
            construct_id,
            queue=queue or self._queue,
            array_size=array_size,
            compile_cache=self._compile_cache,
            **options,
        )
        return self._let_resume(self._tag_queue(self._grant_checkpoints(job)))

    def add_precompile_job(
        self,
        construct_id: str,
        *,
        instance_type: str | InstanceType | None = None,
        queue: TrainingQueue | None = None,
        method: Literal["neuron-parallel-compile", "first-steps"] = "neuron-parallel-compile",
        phase: Literal["all", "collect", "compile"] = "all",
        retries: int = 1,
        **options: Unpack[JobOptions],
    ) -> PrecompileJob:
        """Add a job that fills the compile cache on one On-Demand node outside the capacity of the cluster.

        The first such job of an instance type creates its queue, which costs nothing while it is idle.

        Args:
            construct_id: Construct ID in the cluster.
            instance_type: Instance type of the node, or ``cpu`` for a host without Neuron devices, which compiles collected
                graphs. Default: the smallest with the chips of the cluster that is known to be offered in its zone; with
                ``phase="compile"`` and none in the zone, ``cpu``.
            queue: Existing queue, such as that of the cluster. Default: the queue for `instance_type`.
            method: ``neuron-parallel-compile`` or ``first-steps``. Default: ``neuron-parallel-compile``.
            phase: ``all``, ``collect`` or ``compile``, see `PrecompileJob`. Default: ``all``.
            retries: How many times failed compilations are retried. Default: 1.
            **options: Image, command and other arguments of `JobOptions`, see `PrecompileJob`.

        Raises:
            FindingsError: If no instance type is known to be offered (UC6116), or `PrecompileJob` rejects an argument.
        """
        job = PrecompileJob(
            self,
            construct_id,
            queue=queue
            or precompile_queue(self, cluster=self._node_groups[0], instance_type=instance_type, phase=phase),
            compile_cache=self._compile_cache,
            method=method,
            phase=phase,
            for_instance_type=self._node_groups[0].instance_type,
            retries=retries,
            **options,
        )
        return self._grant_checkpoints(job)

    def add_fabric_gate(
        self,
        construct_id: str,
        *,
        queue: TrainingQueue | None = None,
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
        gate = FabricGate(
            self,
            construct_id,
            queue=queue or self._queue,
            node_count=node_count,
            min_bandwidth=min_bandwidth,
            max_latency=max_latency,
            patience=patience,
            **options,
        )
        return self._tag_queue(gate)

    def add_smoke_train(
        self,
        construct_id: str,
        *,
        queue: TrainingQueue | None = None,
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
        gate = SmokeTrain(
            self,
            construct_id,
            queue=queue or self._queue,
            node_count=node_count,
            processes_per_node=processes_per_node,
            compile_cache=self._compile_cache,
            device=device,
            steps=steps,
            timeout=timeout,
            **options,
        )
        return self._tag_queue(gate)

    def _grant_checkpoints(self, job: _Job) -> _Job:
        if self._checkpoint_bucket is not None:
            self._checkpoint_bucket.grant_use(job)
        return job

    def _tag_queue(self, job: _Job) -> _Job:
        if job.queue is not self._queue:
            Tags.of(job).add(
                QUEUE_TAG, job.queue.job_queue_arn, include_resource_types=["AWS::Batch::JobDefinition"]
            )
        return job

    def _let_resume(self, job: _Job) -> _Job:
        # Defined for each job, because `ultracluster jobs submit --resume` can request it at submission.
        if self._job_resume is None:
            lifecycle = self.block_lifecycle
            self._job_resume = JobResume(
                self,
                "JobResume",
                queue=self._queue,
                topic=lifecycle.topic if lifecycle else self._topic,
                kms_key=self._kms_key,
            )
            for queue in self._further_queues:
                self._job_resume.watch(queue)
        self._job_resume.allow(job.job_definition_arn)
        return job

    @property
    def alarms(self) -> ClusterAlarms | None:
        """Alarms of the cluster, or None without any."""
        return self._alarms

    @property
    def block_lifecycle(self) -> BlockLifecycle | None:
        """Life cycle of the first Capacity Block, or None for other capacity."""
        return self._block_lifecycles[0] if self._block_lifecycles else None

    @property
    def block_lifecycles(self) -> tuple[BlockLifecycle, ...]:
        """Life cycle of each Capacity Block, in the order of the sources."""
        return self._block_lifecycles

    @property
    def checkpoint_bucket(self) -> CheckpointBucket | None:
        """Bucket for checkpoints, if there is one."""
        return self._checkpoint_bucket

    @property
    def compile_cache(self) -> CompileCache | PosixCompileCache:
        """Neuron compile cache."""
        return self._compile_cache

    @property
    def file_system(self) -> SharedFileSystem:
        """Shared file system."""
        return self._file_system

    @property
    def job_resume(self) -> JobResume | None:
        """Function that submits interrupted jobs again, or None before a job was added."""
        return self._job_resume

    @property
    def metrics(self) -> NodeMetrics | None:
        """Node metrics, or None without alarms."""
        return self._metrics

    @property
    def network(self) -> ClusterNetwork:
        """Network of the nodes."""
        return self._network

    @property
    def nodes(self) -> NodeGroup:
        """Nodes of the first capacity source."""
        return self._node_groups[0]

    @property
    def fleets(self) -> tuple[NodeFleet, ...]:
        """Auto Scaling groups of the sources that have one."""
        return self._fleets

    @property
    def node_groups(self) -> tuple[NodeGroup, ...]:
        """Nodes of each capacity source, in order of preference."""
        return self._node_groups

    @property
    def queue(self) -> TrainingQueue:
        """Main job queue."""
        return self._queue


def _alarm_settings(
    alarms: AlarmSettings | Literal["auto", "none"], *, has_block: bool
) -> AlarmSettings | None:
    if alarms == "none" or (alarms == "auto" and not has_block):
        return None
    return alarms if isinstance(alarms, AlarmSettings) else AlarmSettings()
