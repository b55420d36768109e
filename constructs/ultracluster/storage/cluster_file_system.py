"""The file system of a cluster, as a value describes it: a new one or an existing one."""

from typing import Final

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_kms as kms
from constructs import Construct

from ultracluster._foundation.tokens import check_known
from ultracluster.network.cluster_network import ClusterNetwork
from ultracluster.storage.checkpoint_bucket import CheckpointBucket
from ultracluster.storage.shared_file_system import SharedFileSystem, check_new, clients_of, linked
from ultracluster_catalog.machines.instance_type import InstanceType
from ultracluster_spec.file_system import (
    CLUSTER_RULES,
    FILE_SYSTEM_RULES,
    FileSystem,
    nodes_reach_the_file_system,
    zone_of_file_system_is_known,
)
from ultracluster_spec.findings import Finding
from ultracluster_spec.rules import findings
from ultracluster_spec.values import under, wrong_types

_NEW_BUCKET: Final = "new"
# An imported file system warns of the others itself.
_RULES: Final = [
    each for each in CLUSTER_RULES if each not in (zone_of_file_system_is_known, nodes_reach_the_file_system)
]


def check_file_system(
    given: FileSystem,
    *,
    node_type: InstanceType | None,
    node_count: int,
    zone_id: str | None,
    kms_key: kms.IKey | None,
) -> list[Finding]:
    """Return what is wrong with the file system of a cluster; None is not known."""
    if wrong := wrong_types(given, tokens=True):
        return under("file_system", wrong)
    if given.is_new:
        key = kms_key if _takes_key_of_cluster(given) else None
        found = check_new(given, list(linked(given, _NEW_BUCKET).values()), kms_key=key)
    else:
        found = check_known(given, FILE_SYSTEM_RULES)
    clients = clients_of(given, node_type=node_type, most_nodes=node_count, zone_id=zone_id)
    return [*under("file_system", found), *findings(_RULES, clients)]


def define_file_system(
    scope: Construct,
    construct_id: str,
    given: FileSystem,
    *,
    network: ClusterNetwork,
    node_type: InstanceType,
    checkpoint_bucket: CheckpointBucket | None,
    kms_key: kms.IKey | None,
) -> SharedFileSystem | None:
    """Define the new file system of a cluster, or import the existing one; None without any.

    The key of the file system takes precedence over `kms_key`, that of the cluster.
    """
    if given.is_new:
        return SharedFileSystem(
            scope,
            construct_id,
            network=network,
            settings=given,
            efa_clients=node_type if given.efa else None,
            kms_key=kms_key if _takes_key_of_cluster(given) else None,
            checkpoint_bucket=checkpoint_bucket,
        )
    group, file_system_id = given.security_group_id, given.file_system_id
    if file_system_id is None:
        return None
    return SharedFileSystem.from_attributes(
        scope,
        construct_id,
        network=network,
        file_system_id=file_system_id,
        mount_name=given.mount_name or "",
        dns_name=given.dns_name,
        zone_id=given.zone_id,
        security_group=ec2.SecurityGroup.from_security_group_id(scope, f"{construct_id}Group", group)
        if group
        else None,
        efa_enabled=given.efa,
    )


def _takes_key_of_cluster(given: FileSystem) -> bool:
    # SCRATCH_2 is always encrypted with a key of FSx.
    return given.kms_key_arn is None and given.deployment_type == "PERSISTENT_2"
