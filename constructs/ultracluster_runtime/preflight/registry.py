"""All checks, ordered by code."""

from typing import Final

from ultracluster_runtime.preflight.account import ACCOUNT_CHECKS
from ultracluster_runtime.preflight.check import AnyCheck
from ultracluster_runtime.preflight.entrypoints import ENTRYPOINT_CHECKS
from ultracluster_runtime.preflight.file_systems import FILE_SYSTEM_CHECKS
from ultracluster_runtime.preflight.images import IMAGE_CHECKS
from ultracluster_runtime.preflight.instance_quotas import INSTANCE_QUOTA_CHECKS
from ultracluster_runtime.preflight.network import NETWORK_CHECKS
from ultracluster_runtime.preflight.orders import ORDER_CHECKS
from ultracluster_runtime.preflight.permissions import PERMISSION_CHECKS
from ultracluster_runtime.preflight.quotas import QUOTA_CHECKS
from ultracluster_runtime.preflight.rehearsals import REHEARSALS
from ultracluster_runtime.preflight.reservations import RESERVATION_CHECKS
from ultracluster_runtime.preflight.storage import STORAGE_CHECKS
from ultracluster_runtime.preflight.zones import ZONE_CHECKS

CHECKS: Final[tuple[AnyCheck, ...]] = (
    *ACCOUNT_CHECKS,
    *PERMISSION_CHECKS,
    *INSTANCE_QUOTA_CHECKS,
    *QUOTA_CHECKS,
    *ZONE_CHECKS,
    *RESERVATION_CHECKS,
    *NETWORK_CHECKS,
    *IMAGE_CHECKS,
    *ENTRYPOINT_CHECKS,
    *STORAGE_CHECKS,
    *FILE_SYSTEM_CHECKS,
    *ORDER_CHECKS,
    *REHEARSALS,
)
"""All checks. A check comes after those it depends on."""
