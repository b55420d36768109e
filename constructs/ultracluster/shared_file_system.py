"""FSx for Lustre, shared by all nodes and joined to the checkpoint bucket."""

from typing import Final

import jsii
from aws_cdk import CfnResource, RemovalPolicy, Token
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_fsx as fsx
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from ultracluster.cluster_network import ClusterNetwork
from ultracluster_catalog.findings import Finding, FindingsError, quote
from ultracluster_catalog.lustre import METADATA_IOPS, check_file_system

__all__ = ["SharedFileSystem"]

_LUSTRE_VERSION = "2.15"
_DEPLOYMENT_TYPES: Final = ("PERSISTENT_2", "SCRATCH_2")
_ON_EVERY_STEP_GIB: Final = 2400
# Lustre's own port, and the range that its peers call back on (FSx for Lustre guide, security groups).
_LUSTRE_PORTS = ((988, 988), (1018, 1023))

# DELETED is left out on purpose: with it, an `rm` on Lustre deletes the checkpoint in S3 as well.
_EVENTS = ["NEW", "CHANGED"]


@jsii.implements(ec2.IConnectable)
class SharedFileSystem(Construct):
    """An FSx for Lustre file system on SSD in the subnet of the cluster, kept when the stack goes."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        network: ClusterNetwork,
        deployment_type: str = "PERSISTENT_2",
        storage_capacity_gib: int = 4800,
        per_unit_storage_throughput: int | None = 250,
        metadata_iops: int | None = None,
        data_compression: bool = True,
        kms_key: kms.IKey | None = None,
        checkpoint_bucket: s3.IBucket | None = None,
        checkpoint_path: str = "/checkpoints",
        mount_path: str = "/fsx",
        removal_policy: RemovalPolicy = RemovalPolicy.RETAIN,
    ) -> None:
        """Define the file system.

        Args:
            scope: Where to add it.
            construct_id: Its id there.
            network: Network of its clients.
            deployment_type: ``PERSISTENT_2``, or ``SCRATCH_2`` for data that may be lost with a server: it is not
                replicated. Changing it replaces the file system. Default: ``PERSISTENT_2``.
            storage_capacity_gib: Size in GiB: 1200, 2400 or a multiple of 2400. A client gets 5 Gbps from each
                object server, and there is about one per 2400 GiB. Default: 4800.
            per_unit_storage_throughput: MB/s for each TiB: 125, 250, 500 or 1000; None for
                ``SCRATCH_2``, whose throughput is fixed at 200. Default: 250.
            metadata_iops: Metadata operations per second: 1500, 3000, 6000 or a multiple of 12000 up to 192000;
                they can grow later, not shrink. Default: left to FSx, by the size.
            data_compression: Whether Lustre compresses with LZ4. Default: it does.
            kms_key: Key of your own for data at rest. Changing it replaces the file system. Default: the key that
                AWS manages for FSx.
            checkpoint_bucket: Bucket that the checkpoint folder is imported from and exported to. Default: none.
            checkpoint_path: Folder that is joined to the bucket. Default: ``/checkpoints``.
            mount_path: Where nodes and jobs mount it. Default: ``/fsx``.
            removal_policy: What happens to it when it leaves the stack or is replaced. Default: it is kept.

        Raises:
            FindingsError: If FSx would refuse the file system (UC5001 to UC5007).
        """
        findings = _check(
            deployment_type=deployment_type,
            storage_capacity_gib=storage_capacity_gib,
            per_unit_storage_throughput=per_unit_storage_throughput,
            metadata_iops=metadata_iops,
            kms_key=kms_key,
        )
        if findings:
            raise FindingsError(findings)
        super().__init__(scope, construct_id)
        self._mount_path = mount_path
        security_group = ec2.SecurityGroup(
            self,
            "SecurityGroup",
            vpc=network.vpc,
            description="Lustre file system of the cluster: Lustre among itself and with the nodes",
            allow_all_outbound=False,
        )
        self._connections = ec2.Connections(
            security_groups=[security_group], default_port=ec2.Port.tcp(_LUSTRE_PORTS[0][0])
        )
        rules = self._allow_lustre(security_group.security_group_id, network.security_group.security_group_id)
        file_system = fsx.CfnFileSystem(
            self,
            "Resource",
            file_system_type="LUSTRE",
            file_system_type_version=_LUSTRE_VERSION,
            storage_capacity=storage_capacity_gib,
            subnet_ids=[network.subnet_id],
            security_group_ids=[security_group.security_group_id],
            kms_key_id=kms_key.key_arn if kms_key else None,
            lustre_configuration=fsx.CfnFileSystem.LustreConfigurationProperty(
                deployment_type=deployment_type,
                per_unit_storage_throughput=per_unit_storage_throughput,
                data_compression_type="LZ4" if data_compression else "NONE",
                metadata_configuration=_metadata_configuration(deployment_type, metadata_iops),
            ),
        )
        file_system.apply_removal_policy(removal_policy, apply_to_update_replace_policy=True)
        file_system.node.add_dependency(*rules)
        self._file_system_id = file_system.ref
        self._dns_name = file_system.attr_dns_name
        self._mount_name = file_system.attr_lustre_mount_name
        if checkpoint_bucket is not None:
            association = fsx.CfnDataRepositoryAssociation(
                self,
                "Checkpoints",
                file_system_id=file_system.ref,
                file_system_path=checkpoint_path,
                data_repository_path=f"s3://{checkpoint_bucket.bucket_name}",
                batch_import_meta_data_on_create=True,
                s3=fsx.CfnDataRepositoryAssociation.S3Property(
                    auto_import_policy=fsx.CfnDataRepositoryAssociation.AutoImportPolicyProperty(
                        events=_EVENTS
                    ),
                    auto_export_policy=fsx.CfnDataRepositoryAssociation.AutoExportPolicyProperty(
                        events=_EVENTS
                    ),
                ),
            )
            association.apply_removal_policy(removal_policy, apply_to_update_replace_policy=True)

    def _allow_lustre(self, file_system_group: str, node_group: str) -> list[CfnResource]:
        """Open the Lustre ports within the file system and between it and the nodes, both ways.

        The rules are defined here, whichever stack the nodes' group belongs to: rules left to the CDK would go
        to the network's stack and make the two stacks depend on each other.
        """
        rules: list[CfnResource] = []
        for first, last in _LUSTRE_PORTS:
            for name, source, destination in (
                ("Own", file_system_group, file_system_group),
                ("FromNodes", node_group, file_system_group),
                ("ToNodes", file_system_group, node_group),
            ):
                rules += [
                    ec2.CfnSecurityGroupIngress(
                        self,
                        f"{name}Ingress{first}",
                        group_id=destination,
                        source_security_group_id=source,
                        ip_protocol="tcp",
                        from_port=first,
                        to_port=last,
                        description="Lustre",
                    ),
                    ec2.CfnSecurityGroupEgress(
                        self,
                        f"{name}Egress{first}",
                        group_id=source,
                        destination_security_group_id=destination,
                        ip_protocol="tcp",
                        from_port=first,
                        to_port=last,
                        description="Lustre",
                    ),
                ]
        return rules

    @property
    def connections(self) -> ec2.Connections:
        """Connections of the file system's security group; the default port is Lustre's, TCP 988."""
        return self._connections

    @property
    def dns_name(self) -> str:
        """Name that clients mount from."""
        return self._dns_name

    @property
    def file_system_id(self) -> str:
        """Id of the file system."""
        return self._file_system_id

    @property
    def mount_name(self) -> str:
        """Lustre mount name."""
        return self._mount_name

    @property
    def mount_path(self) -> str:
        """Where nodes and jobs mount it."""
        return self._mount_path


def _check(
    *,
    deployment_type: str,
    storage_capacity_gib: int,
    per_unit_storage_throughput: int | None,
    metadata_iops: int | None,
    kms_key: kms.IKey | None,
) -> list[Finding]:
    if deployment_type not in _DEPLOYMENT_TYPES:
        return [
            Finding(
                code="UC5001",
                path="deployment_type",
                problem=f"got {quote(deployment_type)}",
                allowed=" or ".join(_DEPLOYMENT_TYPES),
            )
        ]
    # A number that only the deployment knows is judged by FSx; the others are judged here.
    findings = check_file_system(
        deployment_type=deployment_type,
        storage_capacity_gib=_ON_EVERY_STEP_GIB
        if Token.is_unresolved(storage_capacity_gib)
        else storage_capacity_gib,
        per_unit_storage_throughput=per_unit_storage_throughput,
        metadata_iops=METADATA_IOPS[0]
        if metadata_iops is not None and Token.is_unresolved(metadata_iops)
        else metadata_iops,
    )
    if kms_key is not None and deployment_type != "PERSISTENT_2":
        findings.append(
            Finding(
                code="UC5007",
                path="kms_key",
                problem=f"got a key with {deployment_type}, which FSx encrypts with a key of its own",
                allowed="a key with PERSISTENT_2",
            )
        )
    return findings


def _metadata_configuration(
    deployment_type: str, metadata_iops: int | None
) -> fsx.CfnFileSystem.MetadataConfigurationProperty | None:
    if deployment_type != "PERSISTENT_2":
        return None
    if metadata_iops is not None:
        return fsx.CfnFileSystem.MetadataConfigurationProperty(mode="USER_PROVISIONED", iops=metadata_iops)
    # It cannot be added later, and a file system without it cannot have more metadata operations.
    return fsx.CfnFileSystem.MetadataConfigurationProperty(mode="AUTOMATIC")
