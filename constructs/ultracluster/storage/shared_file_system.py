"""FSx for Lustre, shared by all nodes and linked to S3: a new file system or an existing one."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias, Unpack, cast

import jsii
from aws_cdk import CfnResource, Duration, RemovalPolicy, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_fsx as fsx
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from ultracluster._foundation.annotations import warn
from ultracluster._foundation.instance_types import AnyInstanceType, instance_type_of
from ultracluster._foundation.metric_options import MetricOptions
from ultracluster._foundation.synthesis_check import check_at_synthesis
from ultracluster._foundation.tokens import are_other_vpcs, known
from ultracluster.network.cluster_network import ClusterNetwork
from ultracluster.network.group_rules import allow_between_groups
from ultracluster.storage.checkpoint_bucket import CheckpointBucket
from ultracluster_catalog.lustre.lustre import INTELLIGENT_TIERING, LUSTRE_PORTS, LustreSettings
from ultracluster_spec import lustre
from ultracluster_spec.arguments import validate_arguments
from ultracluster_spec.file_system import (
    FILE_SYSTEM,
    FileSystem,
    Mounted,
    broken_settings,
    file_system_is_in_the_zone,
    file_system_is_new,
    file_system_is_new_or_existing,
    key_is_supported,
    nodes_reach_the_file_system,
    zone_of_file_system_is_known,
)
from ultracluster_spec.findings import Finding, collect, quote, reject, require
from ultracluster_spec.lustre import Association
from ultracluster_spec.rules import findings
from ultracluster_spec.values import broken_bounds, incomplete, wrong_types

# Amazon Linux 2023 has no client for it (FSx for Lustre User Guide, Lustre file system and client kernel compatibility, read 2026-11:
# https://docs.aws.amazon.com/fsx/latest/LustreGuide/lustre-client-matrix.html).
_OLDEST: Final = "2.10"

# Fields of a file system whose arguments have other names.
_PATHS: Final = {"kms_key_arn": "kms_key", "efa": "efa_clients"}


@dataclass(frozen=True, kw_only=True, slots=True)
class MountedFileSystem:
    """The file system of an imported queue, of which jobs need its mount point only.

    Attributes:
        mount_path: Mount point on nodes and in jobs, such as ``/fsx``.
    """

    mount_path: str


@jsii.implements(fsx.IFileSystem)
class SharedFileSystem(Construct):
    """An FSx for Lustre file system in the subnet of the cluster, retained when the stack is deleted."""

    dns_name: str
    """DNS name of the file system."""
    efa_enabled: bool
    """Whether clients can mount the file system over EFA."""
    mount_name: str
    """Lustre mount name."""
    mount_path: str
    """Mount point on nodes and in jobs."""
    vpc_id: str
    """ID of the VPC of its clients."""
    storage_capacity_gib: int | None
    """Size in GiB; None if it grows on demand, or is unknown because the file system was imported."""

    @validate_arguments
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        network: ClusterNetwork,
        settings: FileSystem | None = None,
        efa_clients: AnyInstanceType | None = None,
        kms_key: kms.IKey | None = None,
        checkpoint_bucket: s3.IBucket | CheckpointBucket | None = None,
        checkpoint_path: str = "/checkpoints",
        mount_path: str = "/fsx",
        removal_policy: RemovalPolicy = RemovalPolicy.RETAIN,
    ) -> None:
        """Define the file system.

        Args:
            network: Network of its clients.
            settings: Size, throughput, backups and links of the file system; numbers may be tokens. `kms_key` takes
                precedence over its ``kms_key_arn``, and ``link_checkpoints`` needs a `checkpoint_bucket`.
                Default: 4,800 GiB of SSD.
            efa_clients: Instance type of clients that mount over EFA, such as ``p5.48xlarge``; not supported on trn2. It
                leads to fewer and larger object servers, in steps of 4,800 to 38,400 GiB on SSD. Changing this replaces
                the file system. Default: clients mount over TCP.
            kms_key: KMS key for data at rest. Changing this replaces the file system. Default: the AWS managed key for
                FSx.
            checkpoint_bucket: Bucket that the checkpoint folder is imported from and exported to. Default: none.
            checkpoint_path: Folder that is linked to the bucket. Default: ``/checkpoints``.
            mount_path: Mount point on nodes and in jobs. Default: ``/fsx``.
            removal_policy: Removal policy of the file system, and of its security group with the rules of its own. With
                RETAIN, a new network keeps its VPC and subnet too. Default: RETAIN.

        Raises:
            FindingsError: If FSx would reject the file system or its associations (UC5001 to UC5026), or the clients
                cannot mount over EFA (UC5027).
        """
        given = settings or FileSystem()
        reject(wrong_types(given, tokens=True))
        given = replace(given, efa=given.efa or efa_clients is not None)
        links = linked(given, checkpoint_bucket.bucket_name if checkpoint_bucket else None, checkpoint_path)
        reject(
            replace(each, path=_PATHS.get(each.path, each.path))
            for each in [
                *check_new(given, list(links.values()), kms_key=kms_key),
                *(_check_clients(efa_clients) if given.efa else ()),
            ]
        )
        asked = given.settings
        super().__init__(scope, construct_id)
        check_at_synthesis(self)
        self.mount_path = mount_path
        self.vpc_id = network.vpc_id
        self.efa_enabled = asked.efa_enabled
        self.storage_capacity_gib = asked.storage_capacity_gib
        security_group = ec2.SecurityGroup(
            self,
            "SecurityGroup",
            vpc=network.vpc,
            description="Lustre file system of the cluster: Lustre among itself and with the nodes",
            allow_all_outbound=False,
        )
        # A retained file system lives on with its group and the rules among its servers. The rules between it and the nodes go
        # with the nodes: EC2 could not delete the group of the nodes while a rule of another group names it.
        security_group.apply_removal_policy(removal_policy)
        if removal_policy is RemovalPolicy.RETAIN:
            network.retain()
        self._connections = _connections_of(security_group)
        rules = _add_lustre_rules(
            self,
            file_system_group=security_group.security_group_id,
            node_group=network.security_group_id,
            efa=asked.efa_enabled,
            within_file_system=removal_policy,
        )
        file_system = fsx.CfnFileSystem(
            self,
            "Resource",
            file_system_type="LUSTRE",
            file_system_type_version=asked.file_system_type_version,
            storage_type=INTELLIGENT_TIERING if asked.storage_type == INTELLIGENT_TIERING else None,
            storage_capacity=asked.storage_capacity_gib,
            subnet_ids=[network.subnet_id],
            security_group_ids=[security_group.security_group_id],
            kms_key_id=kms_key.key_arn if kms_key else given.kms_key_arn,
            lustre_configuration=_lustre_configuration(asked, data_compression=given.data_compression),
        )
        file_system.apply_removal_policy(removal_policy, apply_to_update_replace_policy=True)
        file_system.node.add_dependency(*rules)
        self._id = file_system.ref
        self.dns_name = file_system.attr_dns_name
        self.mount_name = file_system.attr_lustre_mount_name
        for association_id, association in links.items():
            resource = _define_association(
                self, association_id, file_system_id=self.file_system_id, association=association
            )
            resource.apply_removal_policy(removal_policy, apply_to_update_replace_policy=True)

    @classmethod
    @validate_arguments
    def from_attributes(
        cls,
        scope: Construct,
        construct_id: str,
        *,
        network: ClusterNetwork,
        file_system_id: str,
        mount_name: str,
        dns_name: str | None = None,
        zone_id: str | None = None,
        security_group: ec2.ISecurityGroup | None = None,
        efa_enabled: bool = False,
        mount_path: str = "/fsx",
    ) -> "SharedFileSystem":
        """Import an existing FSx for Lustre file system, without lookups and without changes to it.

        Args:
            network: Network of its clients.
            file_system_id: File system ID, such as ``fs-0123456789abcdef0``.
            mount_name: Lustre mount name, such as ``abcdefgh``.
            dns_name: DNS name. Default: that of FSx in the Region of the stack.
            zone_id: Its Availability Zone ID, such as ``use2-az3``, to compare with that of the network. Default: not
                compared, with a warning.
            security_group: Its security group; rules are added to it and to the group of the nodes. EC2 rejects a
                duplicate rule. Default: no rules are added, with a warning.
            efa_enabled: Whether the file system is EFA-enabled. Default: False; clients mount over TCP.
            mount_path: Mount point on nodes and in jobs. Default: ``/fsx``.

        Raises:
            FindingsError: If an ID or name is malformed (UC5030), or the zones differ (UC5031).
        """
        given = FileSystem(
            file_system_id=file_system_id,
            mount_name=mount_name,
            dns_name=dns_name,
            zone_id=zone_id,
            security_group_id=security_group.security_group_id if security_group else None,
        )
        zone = findings([file_system_is_in_the_zone], clients_of(given, zone_id=network.zone_id))
        reject([*broken_bounds(known(given)), *(finding.at("zone_id") for finding in zone)])
        return _ExistingFileSystem(
            scope,
            construct_id,
            network=network,
            file_system_id=file_system_id,
            mount_name=mount_name,
            dns_name=dns_name
            or f"{file_system_id}.fsx.{Stack.of(scope).region}.{Stack.of(scope).url_suffix}",
            zone_id=zone_id,
            security_group=security_group,
            efa_enabled=efa_enabled,
            mount_path=mount_path,
        )

    @classmethod
    @validate_arguments
    def from_lustre_file_system(
        cls,
        scope: Construct,
        construct_id: str,
        file_system: fsx.IFileSystem,
        *,
        network: ClusterNetwork,
        mount_path: str = "/fsx",
    ) -> "SharedFileSystem":
        """Use a file system of the CDK in the same app, and let it and the nodes through to each other.

        Args:
            file_system: An `fsx.LustreFileSystem`. An imported one does not know its mount name: use `from_attributes`.
            network: Network of its clients.
            mount_path: Mount point on nodes and in jobs. Default: ``/fsx``.

        Raises:
            FindingsError: If its mount name is not known (UC5030), it is in another VPC (UC5060), or its version of Lustre is
                too old for the nodes (UC5061).
        """
        reject(check_lustre_file_system(file_system, network.vpc_id, path="file_system"))
        given = cast("fsx.LustreFileSystem", file_system)
        resource = cast("fsx.CfnFileSystem", given.node.default_child)
        return _ExistingFileSystem(
            scope,
            construct_id,
            network=network,
            file_system_id=given.file_system_id,
            mount_name=given.mount_name,
            dns_name=given.dns_name,
            zone_id=network.zone_id if resource.subnet_ids == [network.subnet_id] else None,
            security_group=given.connections.security_groups[0],
            efa_enabled=False,
            mount_path=mount_path,
        )

    @validate_arguments
    def metric(self, metric_name: str, **options: Unpack[MetricOptions]) -> cloudwatch.Metric:
        """Return a metric that FSx publishes for the file system, with one data point for each disk.

        (FSx for Lustre User Guide, metrics and dimensions, read 2026-11.)

        Args:
            metric_name: Name in the namespace ``AWS/FSx``, such as ``MetadataOperations``.
            **options: Arguments of `MetricOptions`. Default: the sum over all disks, every minute.
        """
        defaults = MetricOptions(statistic="Sum", period=Duration.minutes(1))
        return cloudwatch.Metric(
            namespace="AWS/FSx",
            metric_name=metric_name,
            dimensions_map={"FileSystemId": self.file_system_id},
            **defaults | options,
        )

    def metric_data_read_bytes(self, **options: Unpack[MetricOptions]) -> cloudwatch.Metric:
        """Return the bytes that clients read; `**options` as for `metric`."""
        return self.metric("DataReadBytes", **options)

    def metric_data_write_bytes(self, **options: Unpack[MetricOptions]) -> cloudwatch.Metric:
        """Return the bytes that clients write; `**options` as for `metric`."""
        return self.metric("DataWriteBytes", **options)

    def metric_free_data_storage_capacity(self, **options: Unpack[MetricOptions]) -> cloudwatch.Metric:
        """Return the free space in bytes; `**options` as for `metric`."""
        return self.metric("FreeDataStorageCapacity", **options)

    @property
    def file_system_id(self) -> str:
        """ID of the file system."""
        return self._id

    @property
    def connections(self) -> ec2.Connections:
        """Connections of the file system's security group; the default ports are Lustre's, TCP 988 to 1023, as in the CDK."""
        return self._connections


class _ExistingFileSystem(SharedFileSystem):
    """File system returned by `SharedFileSystem.from_attributes`."""

    @validate_arguments
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        network: ClusterNetwork,
        file_system_id: str,
        mount_name: str,
        dns_name: str,
        zone_id: str | None,
        security_group: ec2.ISecurityGroup | None,
        efa_enabled: bool,
        mount_path: str,
    ) -> None:
        Construct.__init__(self, scope, construct_id)
        self._id = file_system_id
        self.mount_name = mount_name
        self.dns_name = dns_name
        self.efa_enabled = efa_enabled
        self.vpc_id = network.vpc_id
        self.storage_capacity_gib = None
        self.mount_path = mount_path
        self._connections = _connections_of(security_group)
        group = security_group.security_group_id if security_group else None
        given = FileSystem(file_system_id=file_system_id, zone_id=zone_id, security_group_id=group)
        mounted = clients_of(given, zone_id=network.zone_id)
        warn(self, *(each.at("zone_id") for each in findings([zone_of_file_system_is_known], mounted)))
        warn(self, *(each.at("security_group") for each in findings([nodes_reach_the_file_system], mounted)))
        if security_group is None:
            return
        _add_lustre_rules(
            self,
            file_system_group=security_group.security_group_id,
            node_group=network.security_group_id,
            efa=efa_enabled,
            within_file_system=None,
        )


def check_vpc_of_file_system(
    file_system: SharedFileSystem, vpc_id: str | None, *, path: str
) -> list[Finding]:
    """Check that nodes are in the VPC of their file system; None is a VPC that has yet to be made for them."""
    return require(
        vpc_id is not None and not are_other_vpcs(vpc_id, file_system.vpc_id),
        "UC5060",
        f"the file system {quote(file_system.node.path)} is in another VPC than the nodes, which could not mount it",
        remedy="Pass the network of the file system to the nodes as network",
        path=path,
    )


AnyFileSystem: TypeAlias = SharedFileSystem | fsx.IFileSystem
"""A file system of ours, or of the CDK."""


def check_lustre_file_system(file_system: fsx.IFileSystem, vpc_id: str | None, *, path: str) -> list[Finding]:
    """Check that nodes can mount a file system of the CDK; None is a VPC that has yet to be made for them."""
    if not isinstance(file_system, fsx.LustreFileSystem):
        remedy = "Import it with SharedFileSystem.from_attributes, which takes its mount_name"
        return [
            Finding(FILE_SYSTEM.code, "an imported file system has no mount name", remedy=remedy, path=path)
        ]
    resource = cast("fsx.CfnFileSystem", file_system.node.default_child)
    configuration = cast("fsx.CfnFileSystem.LustreConfigurationProperty", resource.lustre_configuration)
    is_newest = configuration.deployment_type == "PERSISTENT_2"
    version = resource.file_system_type_version or ("2.12" if is_newest else _OLDEST)
    group = file_system.connections.security_groups[0]
    # The CDK does not say where a file system is; its group and that of the nodes are in one VPC.
    vpc = (
        group.node.default_child.vpc_id
        if isinstance(group.node.default_child, ec2.CfnSecurityGroup)
        else None
    )
    return [
        *require(
            vpc is None or (vpc_id is not None and not are_other_vpcs(vpc_id, vpc)),
            "UC5060",
            f"the file system {quote(file_system.node.path)} is in another VPC than the nodes, which could not mount it",
            remedy="Pass the VPC of the file system to the nodes as network",
            path=path,
        ),
        *require(
            version != _OLDEST,
            "UC5061",
            f"the file system {quote(file_system.node.path)} has Lustre {_OLDEST}, which FSx chooses for its deployment type",
            allowed="2.12, 2.15",
            remedy="Set its file_system_type_version to fsx.FileSystemTypeVersion.V_2_15",
            path=path,
        ),
    ]


def clients_of(given: FileSystem, **clients: Any) -> Mounted:
    """Return a file system and what is known of its clients; None is not known."""
    some = {name: value for name, value in clients.items() if value is not None}
    return known(incomplete(Mounted, {"file_system": known(given), **some}))


def _connections_of(security_group: ec2.ISecurityGroup | None) -> ec2.Connections:
    return ec2.Connections(
        security_groups=[security_group] if security_group else None,
        default_port=ec2.Port.tcp_range(LUSTRE_PORTS[0][0], LUSTRE_PORTS[-1][1]),
    )


def linked(
    given: FileSystem, bucket_name: str | None, checkpoint_path: str = "/checkpoints"
) -> dict[str, Association]:
    """Return the links of a file system by construct ID, that of the checkpoints first."""
    found = {}
    if bucket_name is not None and given.link_checkpoints:
        path = f"s3://{bucket_name}"
        found["Checkpoints"] = Association(file_system_path=checkpoint_path, data_repository_path=path)
    return found | {f"Association{each.file_system_path}": each for each in given.associations}


def check_new(given: FileSystem, links: Sequence[Association], *, kms_key: kms.IKey | None) -> list[Finding]:
    """Return what FSx would reject of a new file system, by the fields of its value."""
    if not given.is_new:
        return findings([file_system_is_new], given)
    own = known(given)
    found = broken_bounds(own.without({"associations"}))  # rules of their own allow parts of tokens
    own = own.without({finding.path for finding in found})
    return [
        *found,
        *(finding for _, finding in broken_settings(own)),
        *(
            findings(lustre.OWN_LINK_RULES, lustre.Links(settings=own.settings, associations=links))
            if links
            else ()
        ),
        *findings([file_system_is_new_or_existing], own),
        *findings([key_is_supported], replace(given, kms_key_arn=kms_key.key_arn) if kms_key else given),
    ]


def _check_clients(efa_clients: AnyInstanceType | None) -> list[Finding]:
    found: list[Finding] = []
    instance_type = collect(found, lambda: instance_type_of(efa_clients)) if efa_clients is not None else None
    if not found:
        found = findings([lustre.efa_has_clients], [instance_type] if instance_type else [])
    return [finding.at("efa_clients") for finding in found]


def _lustre_configuration(
    settings: LustreSettings, *, data_compression: bool
) -> fsx.CfnFileSystem.LustreConfigurationProperty:
    """Return the Lustre configuration of a file system, without unset properties."""
    backups = settings.backup_retention_days != 0
    return fsx.CfnFileSystem.LustreConfigurationProperty(
        deployment_type=settings.deployment_type,
        per_unit_storage_throughput=settings.per_unit_storage_throughput,
        throughput_capacity=settings.throughput_capacity,
        data_read_cache_configuration=_read_cache(settings),
        # Required for hard disks: CreateFileSystem, DriveCacheType.
        drive_cache_type="NONE" if settings.storage_type == "HDD" else None,
        data_compression_type="LZ4" if data_compression else "NONE",
        metadata_configuration=_metadata(settings),
        efa_enabled=True if settings.efa_enabled else None,
        automatic_backup_retention_days=settings.backup_retention_days if backups else None,
        daily_automatic_backup_start_time=settings.backup_start_time,
        # Set even without backups: backups can be enabled later, but this property cannot change after creation.
        copy_tags_to_backups=True if settings.copy_tags_to_backups else None,
    )


def _read_cache(settings: LustreSettings) -> fsx.CfnFileSystem.DataReadCacheConfigurationProperty | None:
    if settings.storage_type != INTELLIGENT_TIERING:
        return None
    return fsx.CfnFileSystem.DataReadCacheConfigurationProperty(
        sizing_mode=settings.read_cache, size_gib=settings.read_cache_gib
    )


def _metadata(settings: LustreSettings) -> fsx.CfnFileSystem.MetadataConfigurationProperty | None:
    if settings.deployment_type != "PERSISTENT_2":
        return None
    if settings.metadata_iops is not None:
        return fsx.CfnFileSystem.MetadataConfigurationProperty(
            mode="USER_PROVISIONED", iops=settings.metadata_iops
        )
    # Metadata configuration cannot be added later, and metadata IOPS cannot grow without it.
    return fsx.CfnFileSystem.MetadataConfigurationProperty(mode="AUTOMATIC")


def _define_association(
    scope: Construct, construct_id: str, *, file_system_id: str, association: Association
) -> fsx.CfnDataRepositoryAssociation:
    """Define a data repository association of a file system."""
    resource = fsx.CfnDataRepositoryAssociation
    imports, exports = association.import_events, association.export_events
    return resource(
        scope,
        construct_id,
        file_system_id=file_system_id,
        file_system_path=association.file_system_path,
        data_repository_path=association.data_repository_path,
        batch_import_meta_data_on_create=association.import_existing,
        s3=resource.S3Property(
            auto_import_policy=resource.AutoImportPolicyProperty(events=list(imports)) if imports else None,
            auto_export_policy=resource.AutoExportPolicyProperty(events=list(exports)) if exports else None,
        )
        if imports or exports
        else None,
    )


def _add_lustre_rules(
    scope: Construct,
    *,
    file_system_group: str,
    node_group: str,
    efa: bool,
    within_file_system: RemovalPolicy | None,
) -> list[CfnResource]:
    """Allow Lustre traffic between file system and nodes, in both directions.

    The rules open the ports of Lustre, or all traffic for EFA, which needs rules that refer to a group. They are defined
    in this stack, whichever stack contains the group of the nodes: with CDK connections they would be created in the
    stack of the network, and both stacks would depend on each other. Without `within_file_system`, a removal policy, there
    are none among the servers, since EC2 rejects a duplicate rule.
    """
    pairs = [("FromNodes", node_group, file_system_group), ("ToNodes", file_system_group, node_group)]
    if within_file_system is not None:
        pairs.insert(0, ("Own", file_system_group, file_system_group))
    rules: list[CfnResource] = []
    for ports in (None,) if efa else LUSTRE_PORTS:
        suffix = ports[0] if ports else "All"
        for name, source, destination in pairs:
            both = allow_between_groups(
                scope,
                (f"{name}Ingress{suffix}", f"{name}Egress{suffix}"),
                source=source,
                destination=destination,
                descriptions=("Lustre", "Lustre"),
                ports=ports,
            )
            for rule in both if source == destination else ():
                rule.apply_removal_policy(within_file_system, apply_to_update_replace_policy=True)
            rules += both
    return rules
