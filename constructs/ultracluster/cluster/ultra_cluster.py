"""A whole cluster: what a training team needs, composed."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from aws_cdk import Annotations, Duration, Tags
from aws_cdk import aws_kms as kms
from constructs import Construct

from ultracluster._foundation.cluster_name import cluster_name
from ultracluster.capacity.capacity import Capacity, CapacityBlock
from ultracluster.capacity.sources import check_own_queue, named, sources_of, used_by_queue
from ultracluster.cluster.cluster_jobs import ClusterJobs
from ultracluster.network.cluster_network import ClusterNetwork
from ultracluster.nodes.cluster_placement import ClusterPlacement, placement_of
from ultracluster.nodes.node_group import NodeGroup
from ultracluster.nodes.node_metrics import NodeMetrics
from ultracluster.operations.block_lifecycle import BlockLifecycle
from ultracluster.scheduling.fair_share import FairShare
from ultracluster.scheduling.training_queue import TrainingQueue
from ultracluster.scheduling.wait_limits import WaitLimits
from ultracluster.storage.checkpoint_bucket import CheckpointBucket
from ultracluster.storage.compile_cache import CompileCache
from ultracluster.storage.posix_compile_cache import PosixCompileCache
from ultracluster.storage.shared_file_system import SharedFileSystem
from ultracluster_catalog.limits.queues import QUEUE_NAME_TAG
from ultracluster_catalog.machines.instance_type import InstanceType
from ultracluster_catalog.machines.nic_layouts import NicLayout
from ultracluster_rules.findings import Finding, FindingsError
from ultracluster_rules.machines import check_whole_ultraservers, get_instance_type
from ultracluster_rules.numbers import rejects_unsafe_numbers

if TYPE_CHECKING:
    from ultracluster.operations.alarm_settings import AlarmSettings
    from ultracluster.operations.cluster_alarms import ClusterAlarms
    from ultracluster.operations.cluster_watch import ClusterWatch

__all__ = ["UltraCluster"]


class UltraCluster(ClusterJobs):
    """Nodes of one type in one Availability Zone, with network, storage, compile cache and a job queue.

    What is passed in is used as it is; what is left out is defined here.
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
        scratch_path: str | None = None,
        queue_sources: Sequence[str | None] | None = None,
        queue_priority: int = 1,
        fair_share: FairShare | None = None,
        wait_limits: WaitLimits | None = None,
        alarms: "AlarmSettings | None" = None,
        kms_key: kms.IKey | None = None,
    ) -> None:
        """Define the cluster.

        Args:
            scope: Where to add it.
            construct_id: Its id there.
            instance_type: Type of the nodes, such as ``trn2.48xlarge``, or an entry of one's own.
            node_count: Most nodes of each source of capacity at one time, 1 to 1000, unless the source has a
                `max_nodes` of its own.
            image_id: Id of an AMI with the Neuron and EFA drivers, the ECS agent and the Lustre client.
            capacity: Where the nodes come from: one source, or several in order of preference, three for one queue. Each gets a
                launch template and a compute environment of its own, which its name tells apart from the others; one
                source can have no name. Default: on-demand, in a cluster placement group.
            zone_id: Zone id for on-demand nodes, such as ``use2-az3``. Default: the zone of the capacity.
            network: Network to use. Default: a new one without a way out.
            checkpoint_bucket: Bucket for checkpoints. Default: a new one, or none when a file system is given.
            file_system: File system to use. Default: a new one of 4,800 GiB, joined to the checkpoint bucket.
            compile_cache: Compile cache to use. Default: a new one.
            nic_layout: Network interface layout of a new network: ``batch``, ``ec2-guide``, ``all-efa``, or the interfaces
                themselves. Not with `network`, which has one. Default: ``batch``.
            placement: ``auto``, ``none``, or a cluster placement group. Default: ``auto``: what the capacity can
                use, so none for a Capacity Block and a new one for on-demand nodes. Where there are
                several sources, a group that is given is for those that can be in it: not for blocks, for Spot, or for
                reservations with a group of their own.
            tags: Tags for instances, volumes and network interfaces. Default: none.
            checkpoint_lead: How long before the drain of a Capacity Block running jobs are told to write a
                checkpoint. Default: 20 minutes.
            scratch_path: Where the instance-store disks are mounted as one, such as ``/scratch``; needs an AMI with
                mdadm. Default: they are left as they are.
            queue_sources: Names of the sources that the cluster's own queue uses, in order of preference; None is the
                source without a name. The others are for queues that `add_queue` adds, such as Spot nodes, which would
                keep multi-node jobs from the queue. Default: all of them.
            queue_priority: Whose jobs come first among queues with nodes in common, 0 to 1000; higher is first.
                Default: 1.
            fair_share: How the queue divides the nodes among share identifiers. Default: first in, first out.
            wait_limits: When a job that waits at the head of the queue is cancelled. Default: never.
            alarms: Whom alarms tell, and when; with them come the metrics of every node and the function that watches the cluster.
                Default: nobody looks. Nodes of an existing cluster are replaced when this changes.
            kms_key: Key of your own for everything that is new here and keeps something: buckets, file system, root volumes, logs
                and topics. Its policy must let the services use it, as that of `ClusterKey` does. In an existing cluster it
                replaces the file system. Default: keys of AWS.

        Raises:
            FindingsError: If neither capacity, network nor zone_id says where the nodes are (UC4022), a network is given with a
                layout (UC3110), two sources
                are one reservation (UC4127), the own queue leaves out a Capacity Block (UC6314), or a part refuses its arguments.
        """
        sources = sources_of(capacity)
        check_own_queue(sources, queue_sources)
        zone = (
            zone_id
            or next((each.zone_id for each in sources if each and each.zone_id), None)
            or (network.zone_id if network else None)
        )
        if zone is None:
            raise FindingsError(
                [
                    Finding(
                        code="UC4022",
                        problem="nothing says in which Availability Zone the nodes are",
                        remedy='Give capacity, network, or zone_id such as "use2-az3"',
                        path="zone_id",
                    )
                ]
            )
        if network is not None and nic_layout is not None:
            problem = "the layout of network interfaces is that of the given network, which was sized for it"
            remedy = "Give nic_layout to the network"
            raise FindingsError([Finding(code="UC3110", problem=problem, remedy=remedy, path="nic_layout")])
        super().__init__(scope, construct_id)
        for finding in check_whole_ultraservers(get_instance_type(instance_type), node_count):
            Annotations.of(self).add_warning_v2(f"ultracluster:{finding.code}", str(finding))
        self._network = network or ClusterNetwork(
            self,
            "Network",
            zone_id=zone,
            instance_type=instance_type,
            node_count=sum((each.max_nodes if each else None) or node_count for each in sources),
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
                self, "Metrics", cluster_name=alarms.cluster_name or cluster_name(self), kms_key=kms_key
            )
            if alarms
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
            )
            for source in sources
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
        self._block_lifecycles = tuple(
            BlockLifecycle(
                self,
                named("BlockLifecycle", source),
                block=source,
                queue=self._queue,
                checkpoint_lead=checkpoint_lead,
                kms_key=kms_key,
            )
            for source in sources
            if isinstance(source, CapacityBlock)
        )
        self._watch: ClusterWatch | None = None
        self._alarms: ClusterAlarms | None = None
        if alarms and self._metrics:
            self._define_alarms(alarms, self._metrics, file_system=file_system, kms_key=kms_key)

    def _define_alarms(
        self,
        settings: "AlarmSettings",
        metrics: NodeMetrics,
        *,
        file_system: SharedFileSystem | None,
        kms_key: kms.IKey | None,
    ) -> None:
        from ultracluster.operations.cluster_alarms import ClusterAlarms  # noqa: PLC0415 - of some clusters only
        from ultracluster.operations.cluster_watch import ClusterWatch  # noqa: PLC0415 - likewise

        self._watch = ClusterWatch(
            self,
            "Watch",
            metrics=metrics,
            queue=self._queue,
            node_groups=self._node_groups,
            kms_key=kms_key,
        )
        self._alarms = ClusterAlarms(
            self,
            "Alarms",
            metrics=metrics,
            file_system=file_system,
            topic=settings.topic,
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
            name: Its name for `ultracluster jobs`, and a part of its id in the cluster.
            sources: Names of the sources of capacity that it uses, in order of preference; None is the source
                without a name. Default: all of them.
            priority: Whose jobs come first among queues with nodes in common, 0 to 1000; higher is first. Default: 1.
            fair_share: How it divides the nodes among share identifiers. Default: first in, first out.
            wait_limits: When a job that waits at its head is cancelled. Default: never.

        Raises:
            FindingsError: If the cluster has no such source (UC6312), or the queue refuses its arguments.
        """
        environments = {each.source_name: each for each in self._queue.own_environments}
        used = used_by_queue([each.capacity for each in self._node_groups], sources, path="sources")
        queue = TrainingQueue(
            self,
            f"Queue-{name}",
            environments=[environments[each.name if each else None] for each in used],
            priority=priority,
            fair_share=fair_share,
            wait_limits=wait_limits,
            log_group=self._queue.log_group,
        )
        # How `ultracluster jobs` finds it: CloudFormation chooses its name.
        Tags.of(queue).add(QUEUE_NAME_TAG, name, include_resource_types=["AWS::Batch::JobQueue"])
        for lifecycle in self._block_lifecycles:
            if lifecycle.block in used:
                lifecycle.watch(queue)
        if self._watch:
            self._watch.watch(queue)
        return queue

    @property
    def alarms(self) -> "ClusterAlarms | None":
        """Its alarms; None unless they were asked for."""
        return self._alarms

    @property
    def block_lifecycle(self) -> BlockLifecycle | None:
        """What looks after the first Capacity Block; None for other capacity."""
        return self._block_lifecycles[0] if self._block_lifecycles else None

    @property
    def block_lifecycles(self) -> tuple[BlockLifecycle, ...]:
        """What looks after each Capacity Block, in the order of the sources."""
        return self._block_lifecycles

    @property
    def checkpoint_bucket(self) -> CheckpointBucket | None:
        """Bucket for checkpoints."""
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
    def metrics(self) -> NodeMetrics | None:
        """Its metrics; None unless alarms were asked for."""
        return self._metrics

    @property
    def network(self) -> ClusterNetwork:
        """Network of the nodes."""
        return self._network

    @property
    def nodes(self) -> NodeGroup:
        """The nodes of the first source of capacity."""
        return self._node_groups[0]

    @property
    def node_groups(self) -> tuple[NodeGroup, ...]:
        """The nodes of each source of capacity, in order of preference."""
        return self._node_groups

    @property
    def queue(self) -> TrainingQueue:
        """Job queue."""
        return self._queue
