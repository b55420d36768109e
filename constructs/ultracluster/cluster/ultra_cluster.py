"""A whole cluster, composed of the other constructs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeVar, Unpack

import jsii
from aws_cdk import Duration, RemovalPolicies, RemovalPolicy, Tags
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sns as sns
from constructs import Construct

from ultracluster._foundation.annotations import warn
from ultracluster._foundation.cluster_name import (
    check_block_is_free,
    check_name_is_free,
    check_one_name,
    claim,
    name_cluster,
    tag_resources,
)
from ultracluster._foundation.cluster_name import cluster_name as find_cluster_name
from ultracluster._foundation.instance_types import AnyInstanceType, instance_type_of
from ultracluster._foundation.regions import check_regions
from ultracluster.capacity.sources import (
    check_main_queue,
    check_sizes,
    has_block,
    named,
    sources_of,
    used_by_queue,
)
from ultracluster.cluster.i_ultra_cluster import ImportedCluster, IUltraCluster
from ultracluster.compliance.cluster_key import check_key, let_services_use
from ultracluster.jobs.cluster_job import ClusterJob
from ultracluster.jobs.job_options import JobOptions
from ultracluster.jobs.precompile_job import PrecompileJob, precompile_queue
from ultracluster.jobs.support_check import SupportCheck
from ultracluster.network.cluster_network import (
    ClusterNetwork,
    check_default_group,
    check_network,
    check_zone,
    define_network,
    private_subnet,
)
from ultracluster.nodes.cluster_placement import ClusterPlacement, Placement, check_strategy, placement_of
from ultracluster.nodes.node_fleet import NodeFleet
from ultracluster.nodes.node_group import NodeGroup, check_boot
from ultracluster.nodes.node_image import image_id_of
from ultracluster.nodes.node_metrics import NodeMetrics
from ultracluster.operations.block_lifecycle import BlockLifecycle, check_lifecycle
from ultracluster.operations.cluster_alarms import ClusterAlarms, check_alarms
from ultracluster.operations.cluster_watch import ClusterWatch
from ultracluster.operations.job_resume import JobResume
from ultracluster.operations.notifications import Notifications, Recipient, check_notify, recipients_of
from ultracluster.operations.weekly_report import WeeklyReport
from ultracluster.scheduling.i_training_queue import ITrainingQueue
from ultracluster.scheduling.training_queue import TrainingQueue, check_queue
from ultracluster.scheduling.unmanaged_environment import UnmanagedEnvironment
from ultracluster.storage.checkpoint_bucket import CheckpointBucket
from ultracluster.storage.cluster_file_system import check_file_system, define_file_system
from ultracluster.storage.compile_cache import CompileCache
from ultracluster.storage.posix_compile_cache import PosixCompileCache
from ultracluster.storage.shared_file_system import (
    AnyFileSystem,
    SharedFileSystem,
    check_lustre_file_system,
    check_vpc_of_file_system,
)
from ultracluster_catalog.limits.queues import QUEUE_NAME_TAG
from ultracluster_catalog.machines.instance_type import InstanceType
from ultracluster_catalog.names.cluster_tag import CLUSTER_TAG
from ultracluster_catalog.neuron.compile_machines import CPU
from ultracluster_spec.alarms import (
    Alarms,
    check_weekly_report,
    effective_alarms,
    warn_of_missing_recipients,
)
from ultracluster_spec.arguments import validate_arguments
from ultracluster_spec.capacity import (
    Capacity,
    CapacityBlock,
    SickNodes,
    check_max_nodes,
    check_sick_nodes,
)
from ultracluster_spec.cluster import check_tags
from ultracluster_spec.file_system import MOUNT_PATH, NO_FILE_SYSTEM, FileSystem
from ultracluster_spec.findings import Finding, FindingsError, collect, reject, require
from ultracluster_spec.instance_type import check_scratch, check_whole_ultraservers
from ultracluster_spec.job import Job
from ultracluster_spec.names import NAME
from ultracluster_spec.network import Network, check_zone_id
from ultracluster_spec.nodes import RootVolume
from ultracluster_spec.queue import Queue
from ultracluster_spec.record import is_error
from ultracluster_spec.records import RECORDS
from ultracluster_spec.values import under, wrong_types

_Job = TypeVar("_Job", bound=ClusterJob)


@jsii.implements(ec2.IConnectable)
class UltraCluster(IUltraCluster):
    """Nodes of one type in one Availability Zone, with network, storage, compile cache and a job queue.

    Parts that are passed in are used as they are; the others are created.
    """

    alarms: ClusterAlarms | None
    """Alarms of the cluster, or None without any."""
    block_lifecycles: tuple[BlockLifecycle, ...]
    """Life cycle of each Capacity Block, in the order of the sources."""
    compile_cache: CompileCache | PosixCompileCache
    """Neuron compile cache."""
    file_system: SharedFileSystem | None
    """Shared file system, or None without one."""
    job_resume: JobResume | None = None
    """Function that submits interrupted jobs again, or None before a job with `resume` was added."""
    metrics: NodeMetrics | None
    """Node metrics, or None without alarms."""
    network: ClusterNetwork
    """Network of the nodes."""
    fleets: tuple[NodeFleet, ...]
    """Auto Scaling groups of the sources that have one."""
    node_groups: tuple[NodeGroup, ...]
    """Nodes of each capacity source, in order of preference."""
    queue: TrainingQueue
    """Main job queue."""

    @validate_arguments
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        instance_type: AnyInstanceType,
        node_count: int,
        image_id: str | ec2.IMachineImage,
        capacity: Capacity | Sequence[Capacity] | None = None,
        zone_id: str | None = None,
        network: ClusterNetwork | ec2.IVpc | Network | None = None,
        vpc_subnets: ec2.SubnetSelection | None = None,
        checkpoint_bucket: CheckpointBucket | s3.IBucket | None = None,
        file_system: AnyFileSystem | FileSystem | Literal["none"] | None = None,
        compile_cache: CompileCache | PosixCompileCache | s3.IBucket | None = None,
        placement: Placement = "auto",
        cluster_name: str | None = None,
        tags: Mapping[str, str] | None = None,
        checkpoint_lead: Duration | None = None,
        max_refusals: int = 3,
        sick_nodes: SickNodes = "tell",
        root_volume: RootVolume | None = None,
        user_data: str | ec2.UserData | None = None,
        scratch_path: str | None = None,
        queue: Queue | None = None,
        alarms: Alarms | None = None,
        notify: Recipient | Sequence[Recipient] = (),
        kms_key: kms.IKey | None = None,
        role: iam.IRole | None = None,
        removal_policy: RemovalPolicy = RemovalPolicy.RETAIN,
    ) -> None:
        """Define the cluster.

        Args:
            instance_type: Type of the nodes, such as ``trn2.48xlarge``, an `ec2.InstanceType`, or a custom `InstanceType`.
            node_count: Maximum number of nodes of each capacity source at one time, 1 to 1000, unless the source has its own
                `max_nodes`.
            image_id: ID of an AMI with the Neuron and EFA drivers, the ECS agent and the Lustre client, or an
                `ec2.IMachineImage` with one for the Region.
            capacity: One capacity source, or several in order of preference, up to three per queue. Each gets its own launch
                template and compute environment, distinguished by the name of the source; one source may have no name.
                Default: On-Demand in a cluster placement group.
            zone_id: Availability Zone ID of On-Demand nodes, such as ``use2-az3``. Default: the zone of the capacity.
            network: Network to use; or the VPC of one, such as an `ec2.Vpc`, see `ClusterNetwork.from_subnet` for what it needs;
                or a `Network` that describes a new or an existing one. Default: a new network without internet access.
            vpc_subnets: Selection of one private subnet, if `network` is a VPC with several. Default: its only one.
            checkpoint_bucket: Bucket for checkpoints, also an `s3.IBucket`. Default: a new bucket, or none if `file_system` is a
                construct.
            file_system: File system to use, also an `fsx.LustreFileSystem`, or a `FileSystem` that describes a new or an
                existing one, or ``none``: nodes mount none, and jobs read and write S3. Default: a new one of 4,800 GiB,
                linked to the checkpoint bucket.
            compile_cache: Compile cache to use, also an `s3.IBucket` for one. Default: a new one.
            placement: ``auto``, ``none``, or a cluster placement group, also an `ec2.PlacementGroup`, for the sources that can
                use one; Capacity Blocks, Spot, and reservations with their own group cannot. Default: that of a `Network`,
                otherwise ``auto``, a new group for On-Demand nodes.
            cluster_name: Name of the cluster in metrics, alarms, tags, budgets, functions and commands, unique in an account
                and Region. Default: its tag ``ultracluster:cluster`` among `tags`, the name that a rollout file gives it, or
                that of the stack, also for a nested stack.
            tags: Tags for instances, volumes and network interfaces, in addition to those of ``Tags.of``. All resources
                get ``ultracluster:cluster``, the name of the cluster. Default: none.
            checkpoint_lead: How long before the drain of a Capacity Block running jobs are notified to write a checkpoint.
                Default: 20 minutes.
            max_refusals: Number of nodes of a Capacity Block that refuse to join one after another before its compute
                environment is closed, 1 to 100. Default: 3.
            sick_nodes: What is done about nodes of a Capacity Block with hardware faults, see `BlockLifecycle`; ``replace``
                needs alarms. Default: ``tell``.
            root_volume: Size and throughput of the root volume of each node, see `NodeGroup`. Default: 200 GiB, 500 MiB/s.
            user_data: Script that each node runs at its first boot, after its own checks, see `NodeGroup`. Default: none.
            scratch_path: Mount point of the instance store volumes, striped into one, such as ``/scratch``; requires an AMI
                with mdadm. Default: the volumes are not mounted.
            queue: Priority, shares and limits of the main queue, and the sources that it uses; others are for queues of
                `add_queue`, such as Spot nodes, on which multi-node jobs cannot run. Default: those of `Queue`, and all sources.
            alarms: Recipients and thresholds of alarms, or ``Alarms(enabled=False)`` for none. Alarms add metrics of every node
                and a function that watches the cluster; adding them to an existing cluster replaces its nodes. Default:
                alarms with default thresholds if there is a Capacity Block, otherwise none.
            notify: Recipients of notifications about alarms, nodes that refuse to join, interrupted jobs and the end of
                Capacity Blocks: mail addresses, each of which must confirm, an SNS topic or its ARN, which a token always is,
                or a topic with addresses to subscribe to it. Alarms with recipients of their own notify those. Default: the recipients of the alarms; without any, a Capacity Block is warned of (UC6448).
            kms_key: Key for all new resources that store data: buckets, file system, root volumes, logs and topics. The
                services around the cluster are added to the policy of a key of the app; that of an imported key must
                allow them, as `ClusterKey` does (UC5251). Changing this in an existing cluster replaces the file system.
                Default: AWS managed or AWS owned keys.
            role: Instance role of the nodes, see `NodeGroup`. Default: a new one for each capacity source.
            removal_policy: Removal policy of everything that the cluster creates, RETAIN or DESTROY. With DESTROY its file
                system, logs and tables, and what jobs wrote to them, are deleted with the stack; a bucket with objects must be
                emptied first, as ``ultracluster destroy --delete-data`` does. Parts that are passed in keep theirs.
                Default: RETAIN of file system, network, buckets, logs and tables.

        Raises:
            FindingsError: If `removal_policy` is neither RETAIN nor DESTROY (UC5217), a recipient is neither an address nor a
                topic (UC6449), neither `capacity`, `network` nor `zone_id` determines the Availability Zone (UC4022), an
                argument belongs to the network that is set (UC3110), the selection is not of one private subnet (UC3113), two
                sources are the same reservation (UC4127), the main queue leaves out a Capacity Block (UC6314), the file
                system is in another VPC (UC5060), another cluster of the app has the name (UC2160), or a part rejects its
                arguments.
        """
        if isinstance(file_system, str):
            file_system = NO_FILE_SYSTEM
        plan = _resolve(
            scope,
            construct_id,
            cluster_name=cluster_name,
            tags=tags or {},
            instance_type=instance_type,
            node_count=node_count,
            image_id=image_id,
            capacity=capacity,
            zone_id=zone_id,
            network=network,
            vpc_subnets=vpc_subnets,
            file_system=file_system,
            buckets={"checkpoint_bucket": checkpoint_bucket, "compile_cache": compile_cache},
            placement=placement,
            queue=queue or Queue(),
            alarms=alarms,
            notify=recipients_of(notify),
            kms_key=kms_key,
            removal_policy=removal_policy,
            scratch_path=scratch_path,
            boot=check_boot(root_volume, user_data),
            lifecycle=check_lifecycle(checkpoint_lead, max_refusals),
            sick_nodes=sick_nodes,
        )
        super().__init__(scope, construct_id)
        if plan.cluster_name is not None:
            name_cluster(self, plan.cluster_name)
        self.cluster_name = find_cluster_name(self)
        claim(self, self.cluster_name, _blocks(plan.sources))
        self._kms_key = kms_key
        recipients = recipients_of(notify)
        self._topic = self._define_topic(recipients, plan)
        self._placement = self._define_placement(network, placement)
        warn(self, *plan.warnings, *self._warnings(plan, has_recipients=bool(recipients)))
        self.network = self._define_network(network, vpc_subnets, plan, file_system)
        self.checkpoint_bucket = self._define_checkpoints(checkpoint_bucket, file_system)
        self.file_system = self._define_file_system(file_system, plan)
        self.compile_cache = self._define_compile_cache(compile_cache)
        _allow_buckets(self.network, self.checkpoint_bucket, self.compile_cache)
        self.metrics = (
            NodeMetrics(self, "Metrics", cluster_name=self.cluster_name, kms_key=kms_key)
            if plan.alarms
            else None
        )
        self.node_groups = tuple(
            self._define_nodes(
                source,
                plan,
                root_volume=root_volume,
                user_data=user_data,
                scratch_path=scratch_path,
                tags=tags,
                role=role,
            )
            for source in plan.sources
        )
        self.fleets = tuple(self._define_fleet(nodes, plan) for nodes in self.node_groups if nodes.joins)
        self.queue = TrainingQueue(
            self, "Queue", nodes=self.node_groups, max_nodes=node_count, settings=queue, kms_key=kms_key
        )
        self.queue.resume_with(self._allow_resume)
        self._further_queues: list[TrainingQueue] = []
        self._without_resume: list[str] = []
        self._watch, self.alarms = self._define_alarms(plan.alarms)
        self._topic = self._topic or (self.alarms.topic if self.alarms else None)
        self._define_weekly_report(plan)
        self.block_lifecycles = tuple(
            self._define_lifecycle(source, checkpoint_lead, max_refusals, sick_nodes)
            for source in plan.sources
            if isinstance(source, CapacityBlock)
        )
        tag_resources(self, self.nodes.cluster_name)
        if removal_policy is RemovalPolicy.DESTROY:
            RemovalPolicies.of(self).destroy()

    @classmethod
    @validate_arguments
    def from_ultra_cluster_attributes(
        cls,
        scope: Construct,
        construct_id: str,
        *,
        cluster_name: str,
        queue: ITrainingQueue,
        compile_cache: CompileCache | PosixCompileCache | None = None,
        checkpoint_bucket: CheckpointBucket | s3.IBucket | None = None,
    ) -> IUltraCluster:
        """Import a cluster of another app, to add jobs to it. Nothing is looked up or changed.

        An imported cluster cannot submit interrupted jobs again, because that function belongs to the app of the cluster
        (UC6117), and cannot add queues or precompile jobs.

        Args:
            cluster_name: Name of the cluster, a dimension of its metrics.
            queue: Queue of its jobs, from `TrainingQueue.from_training_queue_attributes`.
            compile_cache: Its compile cache, from `CompileCache.from_bucket`. Default: none.
            checkpoint_bucket: Its bucket for checkpoints, also an `s3.IBucket`. Default: none.
        """
        return ImportedCluster(
            scope,
            construct_id,
            cluster_name=cluster_name,
            queue=queue,
            compile_cache=compile_cache,
            checkpoint_bucket=checkpoint_bucket,
        )

    def _warnings(self, plan: "_Plan", *, has_recipients: bool) -> Iterator[Finding]:
        """Yield what needs the construct: a block without recipients, and a key whose policy is not ours."""
        told = has_recipients or (plan.alarms and plan.alarms.has_recipients)
        if has_block(plan.sources) and not told:
            yield warn_of_missing_recipients()
        if self._kms_key:
            yield from let_services_use(self._kms_key, self)

    def _define_topic(self, recipients: Sequence[Recipient], plan: "_Plan") -> sns.ITopic | None:
        """Define the topic of the cluster, also without recipients: those that are added later must not replace it."""
        needed = not plan.alarms.has_recipients if plan.alarms else has_block(plan.sources)
        if not recipients and not needed:
            return None
        return Notifications(self, "Notify", recipients=recipients, kms_key=self._kms_key).topic

    def _define_network(
        self,
        given: ClusterNetwork | ec2.IVpc | Network | None,
        subnet: ec2.SubnetSelection | None,
        plan: "_Plan",
        file_system: AnyFileSystem | FileSystem | None,
    ) -> ClusterNetwork:
        if isinstance(given, ClusterNetwork):
            return given
        if isinstance(given, Network | None):
            described = FileSystem() if file_system is None else file_system
            return define_network(
                self,
                "Network",
                given or Network(),
                zone_id=plan.zone_id,
                instance_type=plan.node_type,
                node_count=plan.most_nodes,
                file_system_interfaces=described.subnet_addresses if isinstance(described, FileSystem) else 0,
            )
        return ClusterNetwork.from_subnet(
            self,
            "Network",
            vpc=given,
            subnet=subnet,
            zone_id=plan.zone_id,
            instance_type=plan.node_type,
            node_count=plan.most_nodes,
        )

    def _define_placement(
        self,
        network: ClusterNetwork | ec2.IVpc | Network | None,
        placement: Placement,
    ) -> Placement:
        match network:
            case Network(placement="auto" | "none" as choice):
                return placement if choice == "auto" else choice
            case Network(placement=name):
                return ClusterPlacement(self, "Placement", placement_group_name=name)
        return placement

    def _define_checkpoints(
        self, bucket: CheckpointBucket | s3.IBucket | None, file_system: AnyFileSystem | FileSystem | None
    ) -> CheckpointBucket | None:
        if bucket is None:
            # A construct is linked to what its author chose.
            is_needed = isinstance(file_system, FileSystem | None)
            return CheckpointBucket(self, "Checkpoints", kms_key=self._kms_key) if is_needed else None
        if isinstance(bucket, CheckpointBucket):
            return bucket
        return CheckpointBucket.from_bucket(self, "Checkpoints", bucket)

    def _define_file_system(
        self, given: AnyFileSystem | FileSystem | None, plan: "_Plan"
    ) -> SharedFileSystem | None:
        if isinstance(given, SharedFileSystem):
            return given
        if not isinstance(given, FileSystem | None):
            return SharedFileSystem.from_lustre_file_system(self, "FileSystem", given, network=self.network)
        return define_file_system(
            self,
            "FileSystem",
            given or FileSystem(),
            network=self.network,
            node_type=plan.node_type,
            checkpoint_bucket=self.checkpoint_bucket,
            kms_key=self._kms_key,
        )

    def _define_compile_cache(
        self, cache: CompileCache | PosixCompileCache | s3.IBucket | None
    ) -> CompileCache | PosixCompileCache:
        if cache is None:
            return CompileCache(self, "CompileCache", kms_key=self._kms_key)
        if isinstance(cache, CompileCache | PosixCompileCache):
            return cache
        return CompileCache.from_bucket(self, "CompileCache", cache)

    def _define_nodes(
        self,
        source: Capacity | None,
        plan: "_Plan",
        *,
        root_volume: RootVolume | None,
        user_data: str | ec2.UserData | None,
        scratch_path: str | None,
        tags: Mapping[str, str] | None,
        role: iam.IRole | None,
    ) -> NodeGroup:
        # Nodes that AWS Batch does not start join a cluster.
        joins = None
        if source and source.launched_by != "batch":
            most_vcpus = plan.node_type.vcpus * plan.node_count
            joins = UnmanagedEnvironment(
                self, named("Environment", source), max_vcpus=most_vcpus, kms_key=self._kms_key
            ).cluster
        return NodeGroup(
            self,
            named("Nodes", source),
            network=self.network,
            instance_type=plan.node_type,
            image_id=plan.image_id,
            capacity=source,
            placement=placement_of(self, source, self._placement, alone=len(plan.sources) == 1),
            file_system=self.file_system,
            root_volume=root_volume,
            user_data=user_data,
            scratch_path=scratch_path,
            tags=tags,
            metrics=self.metrics,
            kms_key=self._kms_key,
            joins=joins,
            role=role,
        )

    def _define_fleet(self, nodes: NodeGroup, plan: "_Plan") -> NodeFleet:
        most = (nodes.capacity and nodes.capacity.max_nodes) or plan.node_count
        return NodeFleet(self, named("Fleet", nodes.capacity), nodes=nodes, max_nodes=most)

    def _define_alarms(self, settings: Alarms | None) -> tuple[ClusterWatch | None, ClusterAlarms | None]:
        if settings is None or self.metrics is None:
            return None, None
        watch = ClusterWatch(
            self,
            "Watch",
            metrics=self.metrics,
            queue=self.queue,
            node_groups=self.node_groups,
            kms_key=self._kms_key,
        )
        alarms = ClusterAlarms(
            self,
            "Alarms",
            metrics=self.metrics,
            file_system=self.file_system,
            topic=None if settings.has_recipients else self._topic,
            settings=settings,
            kms_key=self._kms_key,
        )
        return watch, alarms

    def _define_weekly_report(self, plan: "_Plan") -> None:
        if self.alarms and self.metrics and plan.alarms and plan.alarms.weekly_report:
            WeeklyReport(
                self,
                "WeeklyReport",
                metrics=self.metrics,
                blocks=[each for each in plan.sources if isinstance(each, CapacityBlock)],
                instance_type=self.nodes.instance_type,
                topic=self.alarms.topic,
                kms_key=self._kms_key,
            )

    def _define_lifecycle(
        self,
        block: CapacityBlock,
        checkpoint_lead: Duration | None,
        max_refusals: int,
        sick_nodes: SickNodes,
    ) -> BlockLifecycle:
        return BlockLifecycle(
            self,
            named("BlockLifecycle", block),
            block=block,
            queue=self.queue,
            fleet=next((fleet for fleet in self.fleets if fleet.nodes.capacity is block), None),
            checkpoint_lead=checkpoint_lead,
            max_refusals=max_refusals,
            metrics=self.metrics,
            sick_nodes=sick_nodes,
            topic=self._topic,
            kms_key=self._kms_key,
        )

    @validate_arguments
    def add_queue(self, name: str, settings: Queue | None = None) -> TrainingQueue:
        """Add a queue over the same nodes, with the same log group.

        Args:
            name: Name of the queue for `ultracluster jobs`, of lower case letters, digits and hyphens; also part of its
                construct ID.
            settings: Priority, shares and limits of the queue, and the capacity sources that it uses. Default: those of
                `Queue`, and all sources.

        Raises:
            FindingsError: If the cluster has no such source (UC6312), or the queue rejects its arguments.
        """
        reject(NAME.check(str(name), path="name"))
        queue = TrainingQueue(
            self,
            f"Queue-{name}",
            environments=self.queue.dedicated_environments,
            settings=settings,
            log_group=self.queue.log_group,
        )
        # `ultracluster jobs` finds the queue by this tag, because CloudFormation generates its name.
        Tags.of(queue).add(QUEUE_NAME_TAG, name, include_resource_types=["AWS::Batch::JobQueue"])
        for lifecycle in self.block_lifecycles:
            if lifecycle.block in [environment.nodes.capacity for environment in queue.environments]:
                lifecycle.track_queue(queue)
        if self._watch:
            self._watch.track_queue(queue)
        self._further_queues.append(queue)
        queue.resume_with(self._allow_resume)
        if self.job_resume:
            self.job_resume.track_queue(queue)
        return queue

    @validate_arguments
    def add_precompile_job(
        self,
        construct_id: str,
        job: Job,
        *,
        queue: TrainingQueue | None = None,
        retries: int = 1,
        **options: Unpack[JobOptions],
    ) -> PrecompileJob:
        """Add a job that fills the compile cache on one On-Demand node outside the capacity of the cluster.

        The first such job of an instance type creates its queue, which costs nothing while it is idle.

        Args:
            construct_id: Construct ID in the cluster.
            job: Description of the job, see `PrecompileJob`.
            queue: Existing queue, such as that of the cluster. Default: the queue for `Job.instance_type`.
            retries: How many times failed compilations are retried. Default: 1.
            **options: Arguments of `JobOptions`.

        Raises:
            FindingsError: If no instance type is known to be offered (UC6116), or `PrecompileJob` rejects an argument.
        """
        self._check_id(construct_id)
        made = PrecompileJob(
            self,
            construct_id,
            job,
            queue=queue or precompile_queue(self, job, cluster=self.node_groups[0]),
            compile_cache=self.compile_cache,
            for_instance_type=self.node_groups[0].instance_type,
            retries=retries,
            **options,
        )
        return self._grant_checkpoints(made)

    @validate_arguments
    def add_support_check(
        self,
        construct_id: str,
        job: Job,
        *,
        queue: TrainingQueue | None = None,
        **options: Unpack[JobOptions],
    ) -> SupportCheck:
        """Add a job that lists what Neuron does not support of a model, on an On-Demand CPU host.

        The first such job creates the queue of the host, which costs nothing while it is idle.

        Args:
            construct_id: Construct ID in the cluster.
            job: Description of the job, see `SupportCheck`.
            queue: Existing queue, such as that of the cluster. Default: the queue of CPU hosts.
            **options: Arguments of `JobOptions`.

        Raises:
            FindingsError: If no CPU host is known to be offered (UC6116), or `SupportCheck` rejects an argument.
        """
        self._check_id(construct_id)
        nodes = self.node_groups[0]
        own = queue or precompile_queue(self, replace(job, instance_type=CPU), cluster=nodes)
        return SupportCheck(
            self, construct_id, job, queue=own, for_instance_type=nodes.instance_type, **options
        )

    def _let_resume(self, job: _Job) -> _Job:
        """Let the function that submits jobs again submit this one, at once or when another job brings the function."""
        # Also jobs without `resume`, because `ultracluster jobs submit --resume` can request it at submission where others resume.
        if self.job_resume is None:
            self._without_resume.append(job.job_definition_arn)
        else:
            self.job_resume.allow(job.job_definition_arn)
        return job

    def _allow_resume(self, job_definition_arn: str) -> None:
        if self.job_resume is None:
            lifecycle = self.block_lifecycle
            self.job_resume = JobResume(
                self,
                "JobResume",
                queue=self.queue,
                topic=lifecycle.topic if lifecycle else self._topic,
                kms_key=self._kms_key,
            )
            for queue in self._further_queues:
                self.job_resume.track_queue(queue)
            for earlier in self._without_resume:
                self.job_resume.allow(earlier)
        self.job_resume.allow(job_definition_arn)

    def _queues(self) -> Sequence[ITrainingQueue]:
        return [construct for construct in self.node.find_all() if isinstance(construct, ITrainingQueue)]

    @property
    def block_lifecycle(self) -> BlockLifecycle | None:
        """Life cycle of the first Capacity Block, or None for other capacity."""
        return self.block_lifecycles[0] if self.block_lifecycles else None

    @property
    def connections(self) -> ec2.Connections:
        """Network connections of its nodes, such as ``allow_from(bastion, ec2.Port.tcp(22))``."""
        return self.network.connections

    @property
    def nodes(self) -> NodeGroup:
        """Nodes of the first capacity source."""
        return self.node_groups[0]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Plan:
    """What the arguments of a cluster come to, once nothing is wrong with them."""

    cluster_name: str | None
    """Name that an argument or a tag gives it."""
    node_type: InstanceType
    node_count: int
    image_id: str
    sources: Sequence[Capacity | None]
    most_nodes: int
    """Maximum number of nodes of all sources together."""
    zone_id: str
    alarms: Alarms | None
    warnings: Sequence[Finding]


def _resolve(
    scope: Construct,
    construct_id: str,
    *,
    cluster_name: str | None,
    tags: Mapping[str, str],
    instance_type: AnyInstanceType,
    node_count: int,
    image_id: str | ec2.IMachineImage,
    capacity: Capacity | Sequence[Capacity] | None,
    zone_id: str | None,
    network: ClusterNetwork | ec2.IVpc | Network | None,
    vpc_subnets: ec2.SubnetSelection | None,
    file_system: AnyFileSystem | FileSystem | None,
    buckets: Mapping[str, CheckpointBucket | CompileCache | PosixCompileCache | s3.IBucket | None],
    placement: Placement,
    queue: Queue,
    alarms: Alarms | None,
    notify: Sequence[Recipient],
    kms_key: kms.IKey | None,
    removal_policy: RemovalPolicy,
    scratch_path: str | None,
    boot: Sequence[Finding],
    lifecycle: Sequence[Finding],
    sick_nodes: SickNodes,
) -> _Plan:
    """Return what the arguments come to, or raise all that is wrong with them and with parts that they would define."""
    named_by_tag = tags.get(CLUSTER_TAG)
    findings = check_one_name(cluster_name, named_by_tag)
    cluster_name = named_by_tag if cluster_name is None else cluster_name
    # An empty text does not mean the default: it is a mistake, often of a variable that is not set.
    findings += NAME.check("", path="cluster_name") if cluster_name == "" else ()
    findings += check_name_is_free(scope, construct_id, cluster_name or find_cluster_name(scope))
    findings += (each.at("zone_id") for each in check_zone_id(zone_id)) if zone_id == "" else ()
    node_type = collect(findings, lambda: instance_type_of(instance_type))
    known = collect(findings, lambda: sources_of(capacity))
    sources = known or (None,)
    for block in _blocks(known or ()):
        findings += check_block_is_free(scope, construct_id, block, path="capacity")
    ami = collect(findings, lambda: image_id_of(scope, image_id))
    zone = (
        zone_id
        or next((source.zone_id for source in sources if source and source.zone_id), None)
        or (network.zone_id if isinstance(network, ClusterNetwork) else None)
    )
    most_nodes = sum((source and source.max_nodes) or node_count for source in sources)
    findings += _check_queue(sources, queue if known else replace(queue, capacity=()))
    findings += [*check_max_nodes(node_count, path="node_count"), *check_tags(tags, path="tags")]
    if zone_id != "" and known and not zone:
        remedy = 'Set capacity, network, or zone_id, such as "use2-az3"'
        findings.append(
            Finding("UC4022", "the Availability Zone of the nodes is not set", remedy=remedy, path="zone_id")
        )
    findings += check_zone(scope, zone) if zone else ()
    findings += [*check_key(kms_key), *check_notify(scope, notify)]
    topic = next((each for each in notify if not isinstance(each, str)), None)
    findings += check_regions(
        scope,
        {"kms_key": kms_key, "notify": topic, "alarms.topic_arn": alarms.topic_arn if alarms else None},
        buckets={name: _bucket_of(each) for name, each in buckets.items()},
    )
    findings += _check_removal(removal_policy)
    findings += boot
    findings += lifecycle if has_block(sources) else ()
    has_alarms = alarms.enabled if alarms else has_block(sources)
    findings += check_sick_nodes(sick_nodes, has_block=has_block(sources), has_metrics=has_alarms)
    findings += _check_network(network, vpc_subnets=vpc_subnets, placement=placement)
    findings += check_strategy(placement, path="placement")
    findings += under("alarms", check_alarms(alarms)) if alarms else ()
    findings += under("alarms", check_weekly_report(alarms, has_block=has_block(sources)))
    if node_type:
        findings += check_sizes(sources, node_type=node_type, node_count=node_count)
        mount_path = getattr(file_system or FileSystem(), "mount_path", MOUNT_PATH)
        findings += check_scratch(node_type, scratch_path, mount_path=mount_path)
    if isinstance(file_system, FileSystem):
        findings += check_file_system(
            file_system, node_type=node_type, node_count=most_nodes, zone_id=zone, kms_key=kms_key
        )
    elif file_system is not None:
        vpc_id = network.vpc_id if network else None
        if isinstance(file_system, SharedFileSystem):
            findings += check_vpc_of_file_system(file_system, vpc_id, path="file_system")
        else:
            findings += check_lustre_file_system(file_system, vpc_id, path="file_system")
    errors = [finding for finding in findings if is_error(finding, RECORDS)]
    if errors or node_type is None or ami is None or zone is None:
        raise FindingsError(errors)
    return _Plan(
        cluster_name=cluster_name,
        node_type=node_type,
        node_count=node_count,
        image_id=ami,
        sources=sources,
        most_nodes=most_nodes,
        zone_id=zone,
        alarms=effective_alarms(alarms, has_block=has_block(sources)),
        warnings=(*check_whole_ultraservers(node_type, node_count), *findings),
    )


def _bucket_of(
    part: CheckpointBucket | CompileCache | PosixCompileCache | s3.IBucket | None,
) -> s3.IBucket | None:
    """Return the bucket of a part, if it has one."""
    if isinstance(part, CheckpointBucket | CompileCache):
        return part.bucket
    return None if isinstance(part, PosixCompileCache) else part


def _blocks(sources: Sequence[Capacity | None]) -> list[str]:
    """Return the reservations of the Capacity Blocks among the sources."""
    return [
        each.reservation_id for each in sources if isinstance(each, CapacityBlock) and each.reservation_id
    ]


def _check_queue(sources: Sequence[Capacity | None], queue: Queue) -> list[Finding]:
    if wrong := wrong_types(queue):
        return under("queue", wrong)
    findings: list[Finding] = []
    used = collect(findings, lambda: used_by_queue(sources, queue, path="queue.capacity"))
    if used is not None:
        findings += check_main_queue(sources, used)
    return [*under("queue", check_queue(queue, used or ())), *findings]


def _check_removal(policy: RemovalPolicy) -> list[Finding]:
    return require(
        policy in {RemovalPolicy.RETAIN, RemovalPolicy.DESTROY},
        "UC5217",
        f"got {policy.name}",
        allowed="RETAIN or DESTROY",
        path="removal_policy",
    )


def _check_network(
    network: ClusterNetwork | ec2.IVpc | Network | None,
    *,
    vpc_subnets: ec2.SubnetSelection | None,
    placement: Placement,
) -> list[Finding]:
    """Check a network that is described, that a VPC has one subnet for the nodes, and that arguments are not of another."""
    if isinstance(network, ClusterNetwork | Network | None):
        found = under("network", check_network(network)) if isinstance(network, Network) else []
        found += require(
            vpc_subnets is None,
            "UC3110",
            "subnets are selected from a VPC, and none is passed in",
            remedy="Set network to an ec2.Vpc, or to an imported one",
            path="vpc_subnets",
        )
        return found + require(
            placement == "auto" or not isinstance(network, Network) or not network.differs("placement"),
            "UC3110",
            "the network names a placement group too",
            remedy="Set one of them",
            path="placement",
        )
    findings: list[Finding] = []
    collect(findings, lambda: private_subnet(network, vpc_subnets, path="vpc_subnets"))
    return findings + check_default_group(network, path="network")


def _allow_buckets(network: ClusterNetwork, *parts: object) -> None:
    """Allow the endpoints of a network to reach buckets that are passed in, which can be of another account."""
    for part in parts if network.endpoint_policies else ():
        if network.endpoint_policies and isinstance(part, CheckpointBucket | CompileCache):
            network.endpoint_policies.allow_bucket(part.bucket.bucket_name)
