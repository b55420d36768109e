"""Amazon FSx for Lustre: deployment types, throughput tiers, and what follows from them.

SSD and HDD storage only: the Intelligent-Tiering class takes no data repository association, so checkpoints could
not reach S3. Figures: FSx for Lustre User Guide (deployment options, performance, EFA; read October 2026) and the
CreateFileSystem model of botocore 1.44.5.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil
from typing import Final, Literal

from ultracluster_catalog.findings import Finding, FindingsError, quote
from ultracluster_catalog.instance_type import InstanceType

__all__ = [
    "CLIENT_GBPS",
    "CLIENT_GBPS_PER_OBJECT_SERVER",
    "DATA_REPOSITORY_ASSOCIATIONS_PER_FILE_SYSTEM",
    "FILE_SYSTEM_TYPE_VERSIONS",
    "LUSTRE_PORTS",
    "LUSTRE_TIERS",
    "METADATA_IOPS",
    "LustreTier",
    "automatic_metadata_iops",
    "can_mount_over_efa",
    "check_file_system",
    "client_throughput_gbps",
    "file_system_interfaces",
    "get_lustre_tier",
    "object_servers",
    "throughput_mb_per_s",
]

FILE_SYSTEM_TYPE_VERSIONS: Final = ("2.10", "2.12", "2.15")
"""Lustre versions that FSx offers."""

LUSTRE_PORTS: Final = ((988, 988), (1018, 1023))
"""TCP port ranges (first, last) that clients and file system open to each other."""

METADATA_IOPS: Final[tuple[int, ...]] = (1500, 3000, 6000, *range(12_000, 192_001, 12_000))
"""Metadata IOPS that can be provisioned on SSD storage."""

CLIENT_GBPS_PER_OBJECT_SERVER: Final = 5
"""Gbit/s between one client and one object server without EFA."""

CLIENT_GBPS: Final = 100
"""Gbit/s between one client and the whole file system without EFA."""

DATA_REPOSITORY_ASSOCIATIONS_PER_FILE_SYSTEM: Final = 8
"""Data repository associations that one file system can have."""

_METADATA_IOPS_PER_SERVER: Final = 12_000
_EFA_MINIMUM_NITRO: Final = 4
_METADATA_CONFIGURATION_VERSION: Final = "2.15"


@dataclass(frozen=True, kw_only=True, slots=True)
class LustreTier:
    """One deployment type with one throughput tier.

    Attributes:
        deployment_type: ``SCRATCH_1``, ``SCRATCH_2``, ``PERSISTENT_1`` or ``PERSISTENT_2``.
        storage_type: ``SSD`` or ``HDD``.
        per_unit_storage_throughput: What CreateFileSystem takes, in MB/s per TiB. None for scratch types, which
            take none.
        mb_per_s_per_tib: Baseline disk throughput in MB/s per TiB of storage.
        small_capacities_gib: Storage capacities below the first step, in GiB.
        capacity_step_gib: Every multiple of it is a storage capacity, in GiB.
        gib_per_object_server: Storage behind one object server, in GiB.
        efa_capacity_step_gib: The step, and the storage behind one object server, of an EFA-enabled file system,
            in GiB. None where EFA cannot be enabled.
        data_repository_associations: Whether S3 can be linked by data repository associations.
    """

    deployment_type: str
    storage_type: Literal["SSD", "HDD"]
    per_unit_storage_throughput: int | None
    mb_per_s_per_tib: int
    small_capacities_gib: tuple[int, ...]
    capacity_step_gib: int
    gib_per_object_server: int
    efa_capacity_step_gib: int | None = None
    data_repository_associations: bool = True

    def allows(self, storage_capacity_gib: int, *, efa_enabled: bool = False) -> bool:
        """Whether a file system of this tier can have that storage capacity."""
        if storage_capacity_gib <= 0:
            return False
        if efa_enabled and self.efa_capacity_step_gib:
            return storage_capacity_gib % self.efa_capacity_step_gib == 0
        return (
            storage_capacity_gib in self.small_capacities_gib
            or storage_capacity_gib % self.capacity_step_gib == 0
        )


def _ssd(deployment_type: str, throughput: int, *, efa_step: int | None = None) -> LustreTier:
    return LustreTier(
        deployment_type=deployment_type,
        storage_type="SSD",
        per_unit_storage_throughput=throughput,
        mb_per_s_per_tib=throughput,
        small_capacities_gib=(1200,),
        capacity_step_gib=2400,
        gib_per_object_server=2400,
        efa_capacity_step_gib=efa_step,
    )


def _hdd(throughput: int, *, step: int) -> LustreTier:
    return LustreTier(
        deployment_type="PERSISTENT_1",
        storage_type="HDD",
        per_unit_storage_throughput=throughput,
        mb_per_s_per_tib=throughput,
        small_capacities_gib=(),
        capacity_step_gib=step,
        gib_per_object_server=step,
    )


LUSTRE_TIERS: Final = (
    LustreTier(
        deployment_type="SCRATCH_1",
        storage_type="SSD",
        per_unit_storage_throughput=None,
        mb_per_s_per_tib=200,
        small_capacities_gib=(1200, 2400),
        capacity_step_gib=3600,
        gib_per_object_server=3600,
        data_repository_associations=False,
    ),
    LustreTier(
        deployment_type="SCRATCH_2",
        storage_type="SSD",
        per_unit_storage_throughput=None,
        mb_per_s_per_tib=200,
        small_capacities_gib=(1200,),
        capacity_step_gib=2400,
        gib_per_object_server=2400,
    ),
    _hdd(12, step=6000),
    _hdd(40, step=1800),
    _ssd("PERSISTENT_1", 50),
    _ssd("PERSISTENT_1", 100),
    _ssd("PERSISTENT_1", 200),
    _ssd("PERSISTENT_2", 125, efa_step=38_400),
    _ssd("PERSISTENT_2", 250, efa_step=19_200),
    _ssd("PERSISTENT_2", 500, efa_step=9_600),
    _ssd("PERSISTENT_2", 1000, efa_step=4_800),
)
"""Every deployment type and tier with SSD or HDD storage."""


def get_lustre_tier(deployment_type: str, per_unit_storage_throughput: int | None) -> LustreTier:
    """Look up a tier.

    Args:
        deployment_type: Such as ``PERSISTENT_2``.
        per_unit_storage_throughput: In MB/s per TiB. None for scratch types.

    Raises:
        FindingsError: UC5001 for an unknown deployment type, UC5002 for a throughput that it does not have.
    """
    tiers = [tier for tier in LUSTRE_TIERS if tier.deployment_type == deployment_type]
    if not tiers:
        raise FindingsError(
            [
                Finding(
                    code="UC5001",
                    path="deployment_type",
                    problem=f"{quote(deployment_type)} is not a deployment type",
                    allowed=_listed(dict.fromkeys(tier.deployment_type for tier in LUSTRE_TIERS)),
                )
            ]
        )
    for tier in tiers:
        if tier.per_unit_storage_throughput == per_unit_storage_throughput:
            return tier
    takes_none = tiers[0].per_unit_storage_throughput is None
    raise FindingsError(
        [
            Finding(
                code="UC5002",
                path="per_unit_storage_throughput",
                problem=f"got {quote(per_unit_storage_throughput)} for {deployment_type}",
                allowed="none: the throughput of a scratch file system is fixed"
                if takes_none
                else f"{_listed(tier.per_unit_storage_throughput for tier in tiers)} MB/s per TiB",
            )
        ]
    )


def check_file_system(
    *,
    deployment_type: str,
    storage_capacity_gib: int,
    per_unit_storage_throughput: int | None,
    file_system_type_version: str = "2.15",
    efa_enabled: bool = False,
    metadata_iops: int | None = None,
) -> list[Finding]:
    """Find what CreateFileSystem would refuse.

    Args:
        deployment_type: Such as ``PERSISTENT_2``.
        storage_capacity_gib: Storage capacity in GiB.
        per_unit_storage_throughput: In MB/s per TiB. None for scratch types.
        file_system_type_version: Lustre version. Default: 2.15.
        efa_enabled: Whether clients can reach the file system over EFA. Default: no.
        metadata_iops: Metadata IOPS to provision. Default: left to FSx, by storage capacity.

    Returns:
        All problems; empty for a file system that can be created.
    """
    findings: list[Finding] = []
    try:
        tier = get_lustre_tier(deployment_type, per_unit_storage_throughput)
    except FindingsError as error:
        findings += error.findings
    else:
        findings += _check_capacity(tier, storage_capacity_gib, efa_enabled=efa_enabled)
    findings += _check_version(deployment_type, file_system_type_version)
    if efa_enabled:
        findings += _check_metadata_configuration(
            deployment_type, file_system_type_version, feature="EFA", path="efa_enabled"
        )
    if metadata_iops is not None:
        findings += _check_metadata_configuration(
            deployment_type,
            file_system_type_version,
            feature="provisioned metadata IOPS",
            path="metadata_iops",
        )
        if metadata_iops not in METADATA_IOPS:
            findings.append(
                Finding(
                    code="UC5006",
                    path="metadata_iops",
                    problem=f"got {quote(metadata_iops)}",
                    allowed="1500, 3000, 6000 or a multiple of 12000 up to 192000",
                )
            )
    return findings


def _check_capacity(tier: LustreTier, storage_capacity_gib: int, *, efa_enabled: bool) -> list[Finding]:
    if tier.allows(storage_capacity_gib, efa_enabled=efa_enabled):
        return []
    step = (
        tier.efa_capacity_step_gib if efa_enabled and tier.efa_capacity_step_gib else tier.capacity_step_gib
    )
    small = () if step == tier.efa_capacity_step_gib else tier.small_capacities_gib
    above = max(ceil(storage_capacity_gib / step), 1) * step
    nearest = next((gib for gib in small if gib >= storage_capacity_gib), above)
    return [
        Finding(
            code="UC5003",
            path="storage_capacity_gib",
            problem=f"got {quote(storage_capacity_gib)}",
            allowed=f"{_listed([*small, 'multiples of ' + str(step)])} GiB{' with EFA' if efa_enabled else ''}",
            remedy=f"The next larger is {nearest} GiB.",
        )
    ]


def _check_version(deployment_type: str, version: str) -> list[Finding]:
    allowed = (
        FILE_SYSTEM_TYPE_VERSIONS[1:] if deployment_type == "PERSISTENT_2" else FILE_SYSTEM_TYPE_VERSIONS
    )
    if version in allowed:
        return []
    return [
        Finding(
            code="UC5004",
            path="file_system_type_version",
            problem=f"got {quote(version)}",
            allowed=_listed(allowed),
            remedy="2.15 is the one for new file systems.",
        )
    ]


def _check_metadata_configuration(
    deployment_type: str, version: str, *, feature: str, path: str
) -> list[Finding]:
    """Check what EFA and provisioned metadata IOPS both need: a metadata configuration."""
    if deployment_type == "PERSISTENT_2" and version == _METADATA_CONFIGURATION_VERSION:
        return []
    return [
        Finding(
            code="UC5005",
            path=path,
            problem=f"{feature} with {quote(deployment_type)} and Lustre {quote(version)}",
            allowed=f"PERSISTENT_2 with Lustre {_METADATA_CONFIGURATION_VERSION}",
        )
    ]


def object_servers(
    *,
    deployment_type: str,
    storage_capacity_gib: int,
    per_unit_storage_throughput: int | None,
    efa_enabled: bool = False,
) -> int:
    """Count the object servers behind a file system.

    An EFA-enabled file system has fewer and larger ones, which makes it slower for a client without EFA.

    Args:
        deployment_type: Such as ``PERSISTENT_2``.
        storage_capacity_gib: Storage capacity in GiB.
        per_unit_storage_throughput: In MB/s per TiB. None for scratch types.
        efa_enabled: Whether the file system is EFA-enabled. Default: no.

    Raises:
        FindingsError: UC5001 or UC5002 for a tier that does not exist.
    """
    tier = get_lustre_tier(deployment_type, per_unit_storage_throughput)
    behind_one = tier.efa_capacity_step_gib if efa_enabled else None
    return ceil(storage_capacity_gib / (behind_one or tier.gib_per_object_server))


def automatic_metadata_iops(storage_capacity_gib: int) -> int:
    """Give the metadata IOPS that FSx provisions by itself on PERSISTENT_2 with SSD storage.

    Args:
        storage_capacity_gib: Storage capacity in GiB.
    """
    for below, iops in ((2400, 1500), (4800, 3000), (12_000, 6000), (48_000, 12_000)):
        if storage_capacity_gib < below:
            return iops
    return min(storage_capacity_gib // 24_000 * 12_000, METADATA_IOPS[-1])


def file_system_interfaces(
    *,
    deployment_type: str,
    storage_capacity_gib: int,
    per_unit_storage_throughput: int | None,
    efa_enabled: bool = False,
    metadata_iops: int | None = None,
) -> int:
    """Count the addresses that a file system takes from its subnet: one for each object and metadata server.

    Args:
        deployment_type: Such as ``PERSISTENT_2``.
        storage_capacity_gib: Storage capacity in GiB.
        per_unit_storage_throughput: In MB/s per TiB. None for scratch types.
        efa_enabled: Whether the file system is EFA-enabled. Default: no.
        metadata_iops: Metadata IOPS to provision. Default: left to FSx, by storage capacity.

    Raises:
        FindingsError: UC5001 or UC5002 for a tier that does not exist.
    """
    servers = object_servers(
        deployment_type=deployment_type,
        storage_capacity_gib=storage_capacity_gib,
        per_unit_storage_throughput=per_unit_storage_throughput,
        efa_enabled=efa_enabled,
    )
    if deployment_type != "PERSISTENT_2":
        return servers + 1
    iops = automatic_metadata_iops(storage_capacity_gib) if metadata_iops is None else metadata_iops
    return servers + ceil(iops / _METADATA_IOPS_PER_SERVER)


def throughput_mb_per_s(
    *, deployment_type: str, storage_capacity_gib: int, per_unit_storage_throughput: int | None
) -> float:
    """Give the baseline disk throughput of the whole file system in MB/s.

    FSx counts 1,000 GiB as one TiB here: 2,400 GiB at 50 MB/s per TiB is 120 MB/s in its own example.

    Args:
        deployment_type: Such as ``PERSISTENT_2``.
        storage_capacity_gib: Storage capacity in GiB.
        per_unit_storage_throughput: In MB/s per TiB. None for scratch types.

    Raises:
        FindingsError: UC5001 or UC5002 for a tier that does not exist.
    """
    tier = get_lustre_tier(deployment_type, per_unit_storage_throughput)
    return storage_capacity_gib * tier.mb_per_s_per_tib / 1000


def client_throughput_gbps(*, object_servers: int, network_gbps: float = CLIENT_GBPS) -> float:
    """Give the ceiling for one client without EFA, in Gbit/s.

    This, not the throughput tier, is what one trn2 node feels on a small file system.

    Args:
        object_servers: Object servers of the file system.
        network_gbps: Bandwidth of the client's own interface. Default: not the limit.
    """
    return min(object_servers * CLIENT_GBPS_PER_OBJECT_SERVER, CLIENT_GBPS, network_gbps)


def can_mount_over_efa(instance_type: InstanceType) -> bool:
    """Whether instances of this type can be EFA clients of a file system: Nitro v4 with EFA, but no Trainium2."""
    return (
        instance_type.efa_interfaces > 0
        and instance_type.nitro_generation >= _EFA_MINIMUM_NITRO
        and instance_type.accelerator != "Trainium2"
    )


def _listed(values: Iterable[object]) -> str:
    return ", ".join(str(value) for value in values)
