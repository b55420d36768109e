"""Validation of the arguments of a file system; all problems are reported together."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from aws_cdk import Token
from aws_cdk import aws_kms as kms

from ultracluster._foundation.machines import AnyInstanceType, machine_of
from ultracluster_catalog.lustre.lustre import LustreSettings
from ultracluster_catalog.lustre.lustre_associations import DataRepositoryAssociation
from ultracluster_rules.findings import Finding, FindingsError, reject
from ultracluster_rules.lustre import (
    DNS_NAME,
    FILE_SYSTEM,
    MOUNT_NAME,
    check_access,
    check_associations,
    check_deployment_type,
    check_efa_clients,
    check_file_system,
    check_key,
    check_zone_of_file_system,
)

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
    efa_clients: AnyInstanceType | None,
) -> None:
    """Raise FindingsError for a file system that FSx would reject, or that clients over EFA, if any, could not mount."""
    reject(check_deployment_type(settings.deployment_type, _DEPLOYMENT_TYPES))
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
    if kms_key is not None:
        findings += check_key(settings.deployment_type, path="kms_key")
    if efa_clients is not None:
        findings += _check_efa_clients(efa_clients)
    reject(findings)


def _check_efa_clients(instance_type: AnyInstanceType) -> list[Finding]:
    try:
        machine = machine_of(instance_type)
    except FindingsError as error:
        return [replace(finding, path="efa_clients") for finding in error.findings]
    return check_efa_clients([machine], path="efa_clients")


def check_existing_file_system(
    *, network_zone_id: str, file_system_id: str, mount_name: str, dns_name: str | None, zone_id: str | None
) -> None:
    """Raise FindingsError for attributes that cannot belong to a Lustre file system in the zone of its clients."""
    findings = [
        finding
        for path, value, form in (
            ("file_system_id", file_system_id, FILE_SYSTEM),
            ("mount_name", mount_name, MOUNT_NAME),
            ("dns_name", dns_name, DNS_NAME),
        )
        if value is not None and not Token.is_unresolved(value)
        for finding in form.check(value, path=path)
    ]
    if zone_id is not None and not any(map(Token.is_unresolved, (zone_id, network_zone_id))):
        findings += [each.at("zone_id") for each in check_zone_of_file_system(zone_id, network_zone_id)]
    reject(findings)


def warn_of_existing_file_system(
    *, network_zone_id: str, zone_id: str | None, has_security_group: bool
) -> list[Finding]:
    """Return warnings about unknown properties of an existing file system."""
    zone = check_zone_of_file_system(None, network_zone_id) if zone_id is None else []
    return [
        *(finding.at("zone_id") for finding in zone),
        *(finding.at("security_group") for finding in check_access(has_rules=has_security_group)),
    ]
