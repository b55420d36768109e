"""Deployment types and throughput tiers of FSx for Lustre with SSD or HDD storage.

Figures: FSx for Lustre User Guide (deployment options, performance, EFA; read October 2026) and the CreateFileSystem
model of botocore 1.44.5. The storage type Intelligent-Tiering has no tiers: see `ultracluster_catalog.lustre.lustre`.
"""

from dataclasses import dataclass
from typing import Final, Literal


@dataclass(frozen=True, kw_only=True, slots=True)
class LustreTier:
    """One deployment type with one throughput tier.

    Attributes:
        deployment_type: ``SCRATCH_1``, ``SCRATCH_2``, ``PERSISTENT_1`` or ``PERSISTENT_2``.
        storage_type: ``SSD`` or ``HDD``.
        per_unit_storage_throughput: Parameter of CreateFileSystem in MB/s per TiB. None for scratch types.
        mb_per_s_per_tib: Baseline disk throughput in MB/s per TiB of storage.
        write_mb_per_s_per_tib: The same for writes. None where reads and writes have the same.
        small_capacities_gib: Storage capacities below the first step, in GiB.
        capacity_step_gib: Every multiple of it is a storage capacity, in GiB.
        gib_per_object_server: Storage behind one object server, in GiB.
        efa_capacity_step_gib: The step, and the storage behind one object server, of an EFA-enabled file system,
            in GiB. None where EFA cannot be enabled.
    """

    deployment_type: str
    storage_type: Literal["SSD", "HDD"]
    per_unit_storage_throughput: int | None
    mb_per_s_per_tib: int
    small_capacities_gib: tuple[int, ...]
    capacity_step_gib: int
    gib_per_object_server: int
    efa_capacity_step_gib: int | None = None
    write_mb_per_s_per_tib: int | None = None

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
    ),
    LustreTier(
        deployment_type="SCRATCH_2",
        storage_type="SSD",
        per_unit_storage_throughput=None,
        mb_per_s_per_tib=200,
        write_mb_per_s_per_tib=100,
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
"""Tiers with SSD or HDD storage."""


DEPLOYMENT_TYPES: Final = tuple(dict.fromkeys(tier.deployment_type for tier in LUSTRE_TIERS))
"""Deployment types of FSx for Lustre."""


def get_lustre_tier(deployment_type: str, per_unit_storage_throughput: int | None) -> LustreTier:
    """Return a tier, whose throughput is None for scratch types; ValueError if there is no such tier."""
    for tier in LUSTRE_TIERS:
        if tier.deployment_type == deployment_type and (
            tier.per_unit_storage_throughput == per_unit_storage_throughput
        ):
            return tier
    raise ValueError(f"no tier of {deployment_type!a} with {per_unit_storage_throughput!a} MB/s per TiB")
