"""The nodes: a launch template with the EFA interfaces of every network card."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import jsii
from aws_cdk import Aws, Fn, IStableAnyProducer, ITaggable, Lazy, TagManager, TagType
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from constructs import Construct

from ultracluster._foundation.annotations import warn
from ultracluster._foundation.cluster_name import cluster_name
from ultracluster._foundation.instance_types import AnyInstanceType, instance_type_of
from ultracluster._foundation.permissions import allow, extend_role, never
from ultracluster._foundation.synthesis_check import check_at_synthesis
from ultracluster._foundation.tokens import check_known, is_known
from ultracluster.capacity.launch_options import market_options, node_tags, reservation_target
from ultracluster.capacity.sources import check_launch, check_source
from ultracluster.network.cluster_network import ClusterNetwork
from ultracluster.nodes.agent_policy import agent_statements
from ultracluster.nodes.cluster_placement import AnyPlacement, check_strategy
from ultracluster.nodes.node_image import image_id_of
from ultracluster.nodes.node_metrics import NodeMetrics
from ultracluster.nodes.user_data import node_user_data
from ultracluster.storage.shared_file_system import SharedFileSystem, check_vpc_of_file_system
from ultracluster_catalog.machines.instance_type import InstanceType
from ultracluster_catalog.machines.nic_layouts import NetworkInterface
from ultracluster_catalog.names.cluster_tag import CLUSTER_TAG
from ultracluster_spec.arguments import validate_arguments
from ultracluster_spec.capacity import (
    Capacity,
    CapacityBlock,
    CapacityReservation,
    ReservationGroup,
    check_block_placement,
    check_group_of_reservation,
)
from ultracluster_spec.cluster import check_tags
from ultracluster_spec.findings import Finding, collect, quote, reject, require
from ultracluster_spec.instance_type import check_figures_are_sourced, check_scratch
from ultracluster_spec.network import check_network_interfaces
from ultracluster_spec.nodes import ROOT_DEVICE, ROOT_VOLUME_IOPS, RootVolume, check_user_data
from ultracluster_spec.values import under, wrong_types

# Above that of `Tags.of`, which is 100 unless set.
_TAG_PRIORITY = 1000

# Calls without resource-level permissions: the endpoints of the ECS agent and the channels of Session Manager, for shell
# access without SSH.
_CONNECTION_ACTIONS = [
    "ecs:DiscoverPollEndpoint",
    "ssmmessages:CreateControlChannel",
    "ssmmessages:CreateDataChannel",
    "ssmmessages:OpenControlChannel",
    "ssmmessages:OpenDataChannel",
]


@dataclass(frozen=True, kw_only=True, slots=True)
class JoinedCluster:
    """The cluster of an unmanaged compute environment.

    Attributes:
        compute_environment_arn: ARN of the compute environment, which queues use.
        ecs_cluster_arn: ARN of its ECS cluster, which nodes join.
    """

    compute_environment_arn: str
    ecs_cluster_arn: str


@jsii.implements(ec2.IConnectable, iam.IGrantable, ITaggable)
class NodeGroup(Construct):
    """Identical nodes: launch template, instance role and instance profile.

    A node with fewer Neuron or EFA devices than its instance type has, or without its file system, does not join the
    cluster: it masks the ECS agent, writes the reason to its console and terminates itself, so that another node is launched.
    """

    capacity: Capacity | None
    """Capacity source; None is On-Demand."""
    cluster_name: str
    """Name of the cluster, as in the tag ``ultracluster:cluster`` of the nodes."""
    efa_devices: tuple[str, ...]
    """Paths of the EFA devices of every node, such as ``/dev/infiniband/uverbs0``."""
    file_system: SharedFileSystem | None
    """File system that is mounted at boot."""
    image_id: str
    """ID of the AMI."""
    instance_type: InstanceType
    """Instance type of the nodes."""
    joins: JoinedCluster | None
    """Cluster that the nodes join by themselves; None if AWS Batch starts them."""
    kms_key: kms.IKey | None
    """KMS key of the root volumes; None for the default EBS key."""
    launch_template_id: str
    """ID of the launch template."""
    launch_template_version: str
    """Number of the latest version; explicit, so that changes reach compute environments."""
    network: ClusterNetwork
    """Network of the nodes."""
    network_interfaces: tuple[NetworkInterface, ...]
    """Network interfaces of every node, the primary one first."""
    placement: AnyPlacement | None
    """Cluster placement group of the nodes."""
    role: iam.IRole
    """Instance role, with permissions for the ECS agent and Session Manager, and none for jobs.

    A `TrainingQueue` adds the calls of the agent in the ECS cluster of its compute environment."""
    scratch_path: str | None
    """Mount point of the instance store volumes; None if they are not mounted."""

    @validate_arguments
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        network: ClusterNetwork,
        instance_type: AnyInstanceType,
        image_id: str | ec2.IMachineImage,
        capacity: Capacity | None = None,
        placement: AnyPlacement | None = None,
        file_system: SharedFileSystem | None = None,
        root_volume: RootVolume | None = None,
        user_data: str | ec2.UserData | None = None,
        scratch_path: str | None = None,
        tags: Mapping[str, str] | None = None,
        metrics: NodeMetrics | None = None,
        kms_key: kms.IKey | None = None,
        joins: JoinedCluster | None = None,
        role: iam.IRole | None = None,
    ) -> None:
        """Define the nodes.

        Args:
            network: Network of the nodes, which also defines their network interface layout.
            instance_type: Type of the nodes, such as ``trn2.48xlarge``, or a custom `InstanceType`.
            image_id: ID of an AMI with the Neuron and EFA drivers, the ECS agent and the Lustre client, or an
                `ec2.IMachineImage` with one for the Region. Images that are looked up at deployment are not accepted,
                because a new one would replace all nodes.
            capacity: Capacity source. Default: On-Demand.
            placement: Cluster placement group, also an `ec2.PlacementGroup`. Cannot be combined with a Capacity Block. Default: none.
            file_system: File system to mount at boot. Default: none.
            root_volume: Size and throughput of the encrypted gp3 root volume, at least the size of the AMI. Default: 200 GiB.
            user_data: Script of up to 2,048 bytes, as text or `ec2.UserData.for_linux()`, that each node runs as root at its first
                boot, after its own checks; its result does not decide whether the node joins. Default: none.
            scratch_path: Mount point of the instance store volumes, striped into one, on nodes and in their jobs, such as
                ``/scratch``. Its data is lost with the node. If the instance type has several volumes, the AMI needs
                mdadm, without which no node joins the cluster. Default: the volumes are not mounted.
            tags: Tags for instances, volumes and network interfaces, in addition to those of ``Tags.of``, the reservation
                ID and the name of the cluster, ``ultracluster:cluster``. Default: the name of the stack as that of the
                cluster.
            metrics: Where each node publishes its metrics, once a minute. The AMI needs Python 3.9 or later.
                Default: no metrics.
            kms_key: KMS key for the root volume. Its policy must allow EC2 to use it for the roles that launch nodes for
                AWS Batch, as that of `ClusterKey` does; otherwise no node starts. Default: the default EBS key.
            joins: Cluster that the nodes join by themselves, because AWS Batch does not start them. Default: AWS Batch starts
                them.
            role: Instance role; ``ec2.amazonaws.com`` must be allowed to assume it. It gets the permissions of nodes, unless it
                is imported as not mutable (UC6165). Default: a new one.

        Raises:
            FindingsError: If the instance type is unknown, a Capacity Block is combined with a placement group (UC4020), a
                reservation was created in another group (UC4023), the group keeps nodes apart (UC4061), the image is not an
                AMI ID (UC4110), the zones differ (UC4021), the file system is in another VPC (UC5060), or the instance type has
                no instance store or the scratch path is taken (UC4026, UC4027).
        """
        node_type = instance_type_of(instance_type)
        interfaces = network.interfaces_of(node_type)
        findings = _check(
            network=network,
            capacity=capacity,
            placement=placement,
        )
        findings += [*check_boot(root_volume, user_data), *check_tags(tags or {}, path="tags")]
        if file_system:
            findings += check_vpc_of_file_system(file_system, network.vpc_id, path="file_system")
        ami = collect(findings, lambda: image_id_of(scope, image_id)) or ""
        findings += check_scratch(
            node_type, scratch_path, mount_path=file_system.mount_path if file_system else None
        )
        reject(findings)
        super().__init__(scope, construct_id)
        check_at_synthesis(self)
        warn(
            self,
            *check_figures_are_sourced(node_type),
            *check_network_interfaces(node_type, interfaces),
            *check_launch(capacity, node_type=node_type),
        )
        self.network = network
        self.network_interfaces = interfaces
        self.instance_type = node_type
        self.capacity = capacity
        self.image_id = ami
        self.placement = placement
        self.file_system = file_system
        self.scratch_path = scratch_path
        self.kms_key = kms_key
        self.joins = joins
        statements = _node_statements(joins)
        if role is not None:
            role, warnings = extend_role(self, "ImportedRole", role, statements, path="role")
            warn(self, *warnings)
        self.role = role or _define_role(self, statements)
        if metrics is not None:
            metrics.grant_publish(self.role)
        self._instance_profile = iam.CfnInstanceProfile(
            self, "InstanceProfile", roles=[self.role.role_name]
        ).attr_arn
        efa_devices = sum(interface.interface_type != "interface" for interface in interfaces)
        self.efa_devices = node_type.efa_devices[:efa_devices]
        self.cluster_name = (tags or {}).get(CLUSTER_TAG) or cluster_name(self)
        self._tags = TagManager(TagType.KEY_VALUE, "AWS::EC2::LaunchTemplate", dict(tags or {}))
        # The life cycle of a block finds its nodes by these, whatever tags an app adds.
        for key, value in {
            CLUSTER_TAG: self.cluster_name,
            **node_tags(capacity),
        }.items():
            self._tags.set_tag(key, value, _TAG_PRIORITY)
        self._define_template(
            root_volume=root_volume or RootVolume(), further=_text(user_data), metrics=metrics
        )

    def _define_template(
        self, *, root_volume: RootVolume, further: str | None, metrics: NodeMetrics | None
    ) -> None:
        """Define the launch template of the nodes."""
        node_type, capacity, joins, kms_key = self.instance_type, self.capacity, self.joins, self.kms_key
        group_id = self.network.security_group_id
        template = ec2.CfnLaunchTemplate(
            self,
            "Resource",
            launch_template_data=ec2.CfnLaunchTemplate.LaunchTemplateDataProperty(
                image_id=self.image_id,
                instance_type=node_type.name,
                network_interfaces=[
                    _interface_property(interface, group_id) for interface in self.network_interfaces
                ],
                # AWS Batch sets both itself on nodes that it starts.
                iam_instance_profile=ec2.CfnLaunchTemplate.IamInstanceProfileProperty(
                    arn=self._instance_profile
                )
                if joins
                else None,
                instance_market_options=market_options(capacity, by_batch=joins is None),
                capacity_reservation_specification=reservation_target(capacity),
                # A node that refuses to join shuts itself down, and must leave its place in the reservation.
                instance_initiated_shutdown_behavior="terminate",
                # Hop limit 1: containers get their credentials from another address and must not reach those of the node.
                metadata_options=ec2.CfnLaunchTemplate.MetadataOptionsProperty(
                    http_tokens="required", http_put_response_hop_limit=1, http_endpoint="enabled"
                ),
                block_device_mappings=[
                    ec2.CfnLaunchTemplate.BlockDeviceMappingProperty(
                        device_name=ROOT_DEVICE,
                        ebs=ec2.CfnLaunchTemplate.EbsProperty(
                            volume_size=root_volume.size_gib,
                            volume_type="gp3",
                            iops=ROOT_VOLUME_IOPS,
                            throughput=root_volume.throughput,
                            encrypted=True,
                            kms_key_id=kms_key.key_arn if kms_key else None,
                            delete_on_termination=True,
                        ),
                    )
                ],
                tag_specifications=Lazy.any(_TagSpecifications(self._tags)),
                user_data=Fn.base64(
                    node_user_data(
                        instance_type=node_type,
                        efa_devices=len(self.efa_devices),
                        file_system=self.file_system,
                        scratch_path=self.scratch_path,
                        metrics=metrics,
                        ecs_cluster_arn=joins.ecs_cluster_arn if joins else None,
                        further=further,
                    )
                ),
            ),
        )
        # cfn-lint takes instance types from On-Demand price lists, which lack some Regions with Capacity Blocks.
        template.add_metadata("cfn-lint", {"config": {"ignore_checks": ["E3628"]}})
        self.launch_template_id = template.ref
        self.launch_template_version = template.attr_latest_version_number

    @property
    def tags(self) -> TagManager:
        """Tags of instances, volumes and network interfaces; ``Tags.of(scope).add`` adds to them."""
        return self._tags

    @property
    def connections(self) -> ec2.Connections:
        """Connections of the nodes."""
        return self.network.connections

    @property
    def grant_principal(self) -> iam.IPrincipal:
        """Instance role."""
        return self.role

    @property
    def instance_profile_arn(self) -> str:
        """ARN of the instance profile."""
        return self._instance_profile


def _node_statements(joins: JoinedCluster | None) -> list[iam.PolicyStatement]:
    """Return the permissions of nodes: for the ECS agent and Session Manager, and none for jobs.

    A compute environment of AWS Batch, which is made with this role, adds those for its own ECS cluster.
    """
    partition = Aws.PARTITION
    scope_arn = f"{Aws.REGION}:{Aws.ACCOUNT_ID}"
    return [
        *(agent_statements(joins.ecs_cluster_arn) if joins else ()),
        # The agent tags the container instance when it registers it.
        allow(
            "TagAtRegistration",
            ["ecs:TagResource"],
            [f"arn:{partition}:ecs:{scope_arn}:container-instance/*"],
            {"StringEquals": {"ecs:CreateAction": "RegisterContainerInstance"}},
        ),
        # The heartbeat of SSM Agent: the ARN of a node has one of two forms.
        allow(
            "SystemsManager",
            ["ssm:UpdateInstanceInformation"],
            [
                f"arn:{partition}:ec2:{scope_arn}:instance/*",
                f"arn:{partition}:ssm:{scope_arn}:managed-instance/*",
            ],
        ),
        allow("Connections", _CONNECTION_ACTIONS, ["*"]),
        never(),
    ]


def _define_role(scope: Construct, statements: Sequence[iam.PolicyStatement]) -> iam.Role:
    """Define the role ``Role`` of nodes."""
    return iam.Role(
        scope,
        "Role",
        assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"),
        description="Nodes of the cluster: the ECS agent and Session Manager",
        # An inline policy, so that no node starts before the role has all permissions.
        inline_policies={"Node": iam.PolicyDocument(statements=list(statements))},
    )


def check_boot(volume: RootVolume | None, user_data: str | ec2.UserData | None) -> list[Finding]:
    """Return what is wrong with the root volume of nodes, and with what they run at first boot."""
    found = under("root_volume", wrong_types(volume) or check_known(volume)) if volume else []
    text = _text(user_data)
    return found + ([each.at("user_data") for each in check_user_data(text)] if text is not None else [])


def _text(user_data: str | ec2.UserData | None) -> str | None:
    return user_data.render() if isinstance(user_data, ec2.UserData) else user_data


def _check(
    *,
    network: ClusterNetwork,
    capacity: Capacity | None,
    placement: AnyPlacement | None,
) -> list[Finding]:
    """Check that network, capacity and placement of nodes fit together; values unknown until deployment pass."""
    block = check_block_placement(block=isinstance(capacity, CapacityBlock), placed=placement is not None)
    group = None
    if isinstance(capacity, (CapacityReservation, ReservationGroup)):
        group = capacity.placement_group
    name = placement.placement_group_name if placement else None
    known = all(map(is_known, (group, name)))
    zone = capacity.zone_id if capacity else None
    return [
        *check_source(capacity, path="capacity"),
        *(finding.at("placement") for finding in block),
        *check_strategy(placement, path="placement"),
        *(finding.at("placement") for finding in (check_group_of_reservation(group, name) if known else ())),
        *require(
            zone in {None, network.zone_id} or not all(map(is_known, (zone, network.zone_id))),
            "UC4021",
            f"the capacity is in {quote(zone)}, the network in {quote(network.zone_id)}",
            remedy="Put the network into the zone of the capacity",
            path="capacity",
        ),
    ]


def _interface_property(
    interface: NetworkInterface, group_id: str
) -> ec2.CfnLaunchTemplate.NetworkInterfaceProperty:
    # AssociatePublicIpAddress is not set: EC2 rejects it for efa-only interfaces, and public addresses for instances with
    # several interfaces; the subnet does not assign any.
    return ec2.CfnLaunchTemplate.NetworkInterfaceProperty(
        network_card_index=interface.card,
        device_index=interface.device,
        interface_type=interface.interface_type,
        groups=[group_id],
        delete_on_termination=True,
    )


@jsii.implements(IStableAnyProducer)
class _TagSpecifications:
    """Tags of what a launch template creates, which the CDK does not tag; read at synthesis, when all tags are known."""

    def __init__(self, tags: TagManager) -> None:
        self._tags = tags

    def produce(self) -> list[dict[str, object]]:
        tags = [{"key": key, "value": value} for key, value in sorted(self._tags.tag_values().items())]
        return [
            {"resourceType": resource_type, "tags": tags}
            for resource_type in ("instance", "volume", "network-interface")
        ]
