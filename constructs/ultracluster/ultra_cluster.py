"""A whole cluster: what a training team needs, composed."""

from collections.abc import Mapping, Sequence
from typing import Literal

from aws_cdk import Duration
from constructs import Construct

from ultracluster.block_lifecycle import BlockLifecycle
from ultracluster.capacity import CapacityBlock, CapacityReservation
from ultracluster.checkpoint_bucket import CheckpointBucket
from ultracluster.cluster_network import ClusterNetwork
from ultracluster.cluster_placement import ClusterPlacement
from ultracluster.compile_cache import CompileCache
from ultracluster.job import Launcher
from ultracluster.multi_node_job import MultiNodeJob
from ultracluster.node_group import NodeGroup
from ultracluster.shared_file_system import SharedFileSystem
from ultracluster.training_queue import TrainingQueue
from ultracluster_catalog.findings import Finding, FindingsError
from ultracluster_catalog.instance_type import InstanceType
from ultracluster_catalog.nic_layouts import NicLayout

__all__ = ["UltraCluster"]


class UltraCluster(Construct):
    """Nodes of one type in one Availability Zone, with network, storage, compile cache and a job queue.

    What is passed in is used as it is; what is left out is defined here.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        instance_type: str | InstanceType,
        node_count: int,
        image_id: str,
        capacity: CapacityBlock | CapacityReservation | None = None,
        zone_id: str | None = None,
        network: ClusterNetwork | None = None,
        checkpoint_bucket: CheckpointBucket | None = None,
        file_system: SharedFileSystem | None = None,
        compile_cache: CompileCache | None = None,
        nic_layout: NicLayout = "batch",
        placement: ClusterPlacement | Literal["auto", "none"] = "auto",
        tags: Mapping[str, str] | None = None,
        checkpoint_lead: Duration | None = None,
        scratch_path: str | None = None,
    ) -> None:
        """Define the cluster.

        Args:
            scope: Where to add it.
            construct_id: Its id there.
            instance_type: Type of the nodes, such as ``trn2.48xlarge``, or an entry of one's own.
            node_count: Most nodes at one time, 1 to 1000.
            image_id: Id of an AMI with the Neuron and EFA drivers, the ECS agent and the Lustre client.
            capacity: Where the nodes come from. Default: on-demand, in a cluster placement group.
            zone_id: Zone id for on-demand nodes, such as ``use2-az3``. Default: the zone of the capacity.
            network: Network to use. Default: a new one without a way out.
            checkpoint_bucket: Bucket for checkpoints. Default: a new one, or none when a file system is given.
            file_system: File system to use. Default: a new one of 4,800 GiB, joined to the checkpoint bucket.
            compile_cache: Compile cache to use. Default: a new one.
            nic_layout: Network interface layout: ``batch``, ``ec2-guide``, ``all-efa``, or the interfaces
                themselves. Default: ``batch``.
            placement: ``auto``, ``none``, or a cluster placement group. Default: ``auto``: what the capacity can
                use, so none for a Capacity Block and a new one for on-demand nodes.
            tags: Tags for instances, volumes and network interfaces. Default: none.
            checkpoint_lead: How long before the drain of a Capacity Block running jobs are told to write a
                checkpoint. Default: 20 minutes.
            scratch_path: Where the instance-store disks are mounted as one, such as ``/scratch``; needs an AMI with
                mdadm. Default: they are left as they are.

        Raises:
            FindingsError: If neither capacity, network nor zone_id says where the nodes are (UC4022), or a
                part refuses its arguments.
        """
        zone = zone_id or (capacity.zone_id if capacity else None) or (network.zone_id if network else None)
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
        super().__init__(scope, construct_id)
        self._network = network or ClusterNetwork(
            self,
            "Network",
            zone_id=zone,
            instance_type=instance_type,
            node_count=node_count,
            nic_layout=nic_layout,
        )
        if file_system is None:
            checkpoint_bucket = checkpoint_bucket or CheckpointBucket(self, "Checkpoints")
            file_system = SharedFileSystem(
                self, "FileSystem", network=self._network, checkpoint_bucket=checkpoint_bucket.bucket
            )
        self._checkpoint_bucket = checkpoint_bucket
        self._file_system = file_system
        self._compile_cache = compile_cache or CompileCache(self, "CompileCache")
        self._nodes = NodeGroup(
            self,
            "Nodes",
            network=self._network,
            instance_type=instance_type,
            image_id=image_id,
            capacity=capacity,
            placement=_placement(self, capacity, placement),
            nic_layout=nic_layout,
            file_system=file_system,
            scratch_path=scratch_path,
            tags=tags,
        )
        self._queue = TrainingQueue(self, "Queue", nodes=self._nodes, max_nodes=node_count)
        self._block_lifecycle = (
            BlockLifecycle(
                self, "BlockLifecycle", block=capacity, queue=self._queue, checkpoint_lead=checkpoint_lead
            )
            if isinstance(capacity, CapacityBlock)
            else None
        )

    def add_multi_node_job(
        self,
        construct_id: str,
        *,
        image: str,
        command: Sequence[str],
        node_count: int | None = None,
        processes_per_node: int | None = None,
        environment: Mapping[str, str] | None = None,
        timeout: Duration | None = None,
        attempts: int = 1,
        launcher: Launcher = "torchrun",
    ) -> MultiNodeJob:
        """Add a job that uses the cluster's queue, file system, compile cache and checkpoint bucket.

        Args:
            construct_id: Its id in the cluster.
            image: Container image with a tag or digest.
            command: Program and arguments that the launcher starts.
            node_count: Nodes of the job. Default: all nodes of the cluster.
            processes_per_node: Processes on each node. Default: one for each logical NeuronCore.
            environment: More environment variables. Default: none.
            timeout: When an attempt is ended. Default: never.
            attempts: How often the job is started when its host is lost, 1 to 10. Default: once.
            launcher: ``torchrun``, ``jax`` or ``raw``. Default: ``torchrun``.

        Raises:
            FindingsError: If the job does not fit the cluster.
        """
        job = MultiNodeJob(
            self,
            construct_id,
            queue=self._queue,
            image=image,
            command=command,
            node_count=node_count,
            processes_per_node=processes_per_node,
            compile_cache=self._compile_cache,
            environment=environment,
            timeout=timeout,
            attempts=attempts,
            launcher=launcher,
        )
        if self._checkpoint_bucket is not None:
            self._checkpoint_bucket.grant_use(job)
        return job

    @property
    def block_lifecycle(self) -> BlockLifecycle | None:
        """What looks after the Capacity Block; None for other capacity."""
        return self._block_lifecycle

    @property
    def checkpoint_bucket(self) -> CheckpointBucket | None:
        """Bucket for checkpoints."""
        return self._checkpoint_bucket

    @property
    def compile_cache(self) -> CompileCache:
        """Neuron compile cache."""
        return self._compile_cache

    @property
    def file_system(self) -> SharedFileSystem:
        """Shared file system."""
        return self._file_system

    @property
    def network(self) -> ClusterNetwork:
        """Network of the nodes."""
        return self._network

    @property
    def nodes(self) -> NodeGroup:
        """The nodes."""
        return self._nodes

    @property
    def queue(self) -> TrainingQueue:
        """Job queue."""
        return self._queue


def _placement(
    scope: Construct,
    capacity: CapacityBlock | CapacityReservation | None,
    placement: ClusterPlacement | Literal["auto", "none"],
) -> ClusterPlacement | None:
    if isinstance(placement, ClusterPlacement):
        return placement
    if placement == "none":
        return None
    return ClusterPlacement.for_capacity(scope, "Placement", capacity)
