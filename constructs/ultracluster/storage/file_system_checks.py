"""Validation of the arguments of a file system; all problems are reported together."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from aws_cdk import Token
from aws_cdk import aws_kms as kms

from ultracluster_catalog.lustre.lustre import LustreSettings
from ultracluster_catalog.lustre.lustre_associations import DataRepositoryAssociation
from ultracluster_catalog.lustre.lustre_figures import can_mount_over_efa
from ultracluster_catalog.machines.instance_type import InstanceType
from ultracluster_catalog.names.identifiers import FILE_SYSTEM_DNS_NAME, FILE_SYSTEM_ID, LUSTRE_MOUNT_NAME
from ultracluster_rules.findings import Finding, FindingsError, quote
from ultracluster_rules.lustre import check_associations, check_file_system
from ultracluster_rules.machines import get_instance_type

__all__ = ["check_existing_file_system", "check_new_file_system", "warn_of_existing_file_system"]

_DEPLOYMENT_TYPES: Final = ("PERSISTENT_2", "SCRATCH_2")

# Stand-ins for numbers that are unknown until deployment, so that the other arguments can be validated.
_STAND_INS: Final = {
    "storage_capacity_gib": 38_400,
    "per_unit_storage_throughput": 250,
    "throughput_capacity": 4000,
    "read_cache_gib": 131_072,
    "metadata_iops": 12_000,
    "backup_retention_days": 1,
}


def check_new_file_system(
    settings: LustreSettings,
    associations: Sequence[DataRepositoryAssociation],
    *,
    kms_key: kms.IKey | None,
    efa_clients: str | InstanceType | None,
) -> None:
    """Raise for a file system that FSx would reject, or that its clients could not mount.

    Args:
        settings: Settings of the file system; their numbers may be tokens.
        associations: All data repository associations, including that of the checkpoints.
        kms_key: KMS key. None for the AWS managed key.
        efa_clients: Instance type of clients over EFA. None for no EFA.

    Raises:
        FindingsError: With all problems.
    """
    if settings.deployment_type not in _DEPLOYMENT_TYPES:
        raise FindingsError(
            [
                Finding(
                    code="UC5001",
                    path="deployment_type",
                    problem=f"got {quote(settings.deployment_type)}",
                    allowed=" or ".join(_DEPLOYMENT_TYPES),
                )
            ]
        )
    stand_ins: dict[str, Any] = {
        name: value
        for name, value in _STAND_INS.items()
        if (setting := getattr(settings, name)) is not None and Token.is_unresolved(setting)
    }
    known_settings = replace(settings, **stand_ins)
    findings = [
        *check_file_system(known_settings),
        *check_associations(associations, settings=known_settings),
    ]
    if kms_key is not None and settings.deployment_type != "PERSISTENT_2":
        findings.append(
            Finding(
                code="UC5007",
                path="kms_key",
                problem=f"got a key with {settings.deployment_type}, which FSx encrypts with a key of its own",
                allowed="a key with PERSISTENT_2",
            )
        )
    if efa_clients is not None:
        findings += _check_efa_clients(efa_clients)
    if findings:
        raise FindingsError(findings)


def _check_efa_clients(instance_type: str | InstanceType) -> list[Finding]:
    try:
        machine = get_instance_type(instance_type)
    except FindingsError as error:
        return [replace(finding, path="efa_clients") for finding in error.findings]
    if can_mount_over_efa(machine):
        return []
    return [
        Finding(
            code="UC5027",
            path="efa_clients",
            problem=f"{machine.name} cannot mount a file system over EFA, and over TCP it gets less from the fewer "
            "object servers of one with EFA",
            allowed="types of Nitro v4 with EFA, except Trainium2",
            remedy="Leave it out",
        )
    ]


def check_existing_file_system(
    *,
    network_zone_id: str,
    file_system_id: str,
    mount_name: str,
    dns_name: str | None,
    zone_id: str | None,
) -> None:
    """Raise for attributes that cannot belong to a Lustre file system in the zone of its clients.

    Args:
        network_zone_id: Availability Zone ID of the clients.
        file_system_id: ID of the file system.
        mount_name: Lustre mount name.
        dns_name: DNS name. None for the default of FSx.
        zone_id: Availability Zone ID of the file system. None if unknown.

    Raises:
        FindingsError: With all problems.
    """
    findings = [
        Finding(code="UC5030", path=path, problem=f"got {quote(value)}", allowed=allowed)
        for path, value, pattern, allowed in (
            ("file_system_id", file_system_id, FILE_SYSTEM_ID, "fs- and 17 hexadecimal digits"),
            ("mount_name", mount_name, LUSTRE_MOUNT_NAME, "1 to 8 letters, digits, - and _"),
            ("dns_name", dns_name, FILE_SYSTEM_DNS_NAME, "a name such as fs-….fsx.us-east-2.amazonaws.com"),
        )
        if value is not None and not Token.is_unresolved(value) and not re.fullmatch(pattern, value)
    ]
    if zone_id not in {None, network_zone_id} and not any(
        map(Token.is_unresolved, (zone_id, network_zone_id))
    ):
        findings.append(
            Finding(
                code="UC5031",
                path="zone_id",
                problem=f"the file system is in {quote(zone_id)}, the nodes are in {quote(network_zone_id)}",
                remedy="Use a file system in the zone of the nodes: traffic between zones is slower and paid",
            )
        )
    if findings:
        raise FindingsError(findings)


def warn_of_existing_file_system(
    *, network_zone_id: str, zone_id: str | None, has_security_group: bool
) -> list[Finding]:
    """Return warnings about unknown properties of an existing file system.

    Args:
        network_zone_id: Availability Zone ID of the clients.
        zone_id: Availability Zone ID of the file system. None if unknown.
        has_security_group: Whether rules for the nodes are added to its security group.
    """
    findings = []
    if zone_id is None:
        findings.append(
            Finding(
                code="UC5032",
                path="zone_id",
                problem=f"the zone of the file system is not known; the nodes are in {network_zone_id}",
                remedy="Give zone_id, so that it is compared",
            )
        )
    if not has_security_group:
        findings.append(
            Finding(
                code="UC5033",
                path="security_group",
                problem="no rule lets the nodes reach the file system",
                remedy="Give its security group, or add rules for Lustre to both groups yourself",
            )
        )
    return findings
