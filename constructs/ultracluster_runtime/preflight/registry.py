"""All checks, ordered by code."""

from typing import Final

from ultracluster_runtime.preflight import (
    account,
    file_systems,
    images,
    network,
    orders,
    permissions,
    quotas,
    rehearsals,
    reservations,
    storage,
    zones,
)
from ultracluster_runtime.preflight.check import AnyCheck, checks_of

# A check comes after those it depends on.
CHECKS: Final[tuple[AnyCheck, ...]] = (
    *checks_of(account, permissions, quotas, zones, reservations, network, images),
    *checks_of(storage, file_systems, orders, rehearsals),
)
