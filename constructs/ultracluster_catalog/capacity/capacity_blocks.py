"""Capacity Blocks for ML: Regions, durations, and the schedule of their end.

Figures: EC2 User Guide, Capacity Blocks for ML, read in September or October 2026; enumerations as in botocore 1.44.5. AWS's pages
disagree on two points, and both readings are kept: the names of the events, and the Regions of trn2.48xlarge.
"""

from collections.abc import Mapping
from datetime import date, time, timedelta
from types import MappingProxyType
from typing import Final

from ultracluster_catalog.machines.instance_type import InstanceType
from ultracluster_catalog.machines.instance_types import FAMILIES, INSTANCE_TYPES, MACHINES

BLOCK_REGIONS_DATED: Final = date(2026, 9, 1)
"""Earliest day on which the User Guide's table of Regions was read; the latest is two months later."""

BLOCK_REGIONS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {name: machine.block_regions for name, machine in MACHINES.items() if machine.block_regions}
)
"""Regions that the User Guide lists for Capacity Blocks of an instance type; types without blocks are absent."""

BLOCK_REGIONS_SEEN: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {name: machine.block_regions_seen for name, machine in MACHINES.items() if machine.block_regions_seen}
)
"""Regions with real offerings that the User Guide does not list: a field report of 2026-10-03."""

ULTRASERVER_REGIONS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {name: regions for family in FAMILIES for name, regions in family.ultraserver_regions.items()}
)
"""Regions with Capacity Blocks of UltraServers, by UltraServer type."""

BATCH_LAUNCHES_SHOWN: Final[Mapping[str, str]] = MappingProxyType(
    {
        "p5.48xlarge": "2025-04-10: a job of a managed environment succeeded; the reservation of its instances is not shown "
        "(https://github.com/aws-samples/sample-aws-batch-capacity-block-reservations/blob/a79e8cff5e02e064eccc92cb5d9839c99764d104/images/cbr-job-detail.png)",
    }
)
"""Published runs in which AWS Batch launched an instance type into a Capacity Block, by type, with day and source.

Its guide lists market options among the parameters of a launch template that it ignores
(https://docs.aws.amazon.com/batch/latest/userguide/launch-templates.html, read 2026-10). A type is added when a live check has
shown it.
"""

SHORTEST_BLOCK: Final = timedelta(days=1)
"""Shortest block. Offerings may differ by hours, because every block ends at the same time of day."""

LONGEST_BLOCK: Final = timedelta(days=182)
"""Longest block, including extensions."""

NEAREST_START: Final = timedelta(minutes=30)
"""Minimum time until the start of an offered block."""

FURTHEST_START: Final = timedelta(weeks=8)
"""Maximum time until the start of an offered block."""

MAX_INSTANCES_PER_BLOCK: Final = 64
"""Maximum number of instances in a block; some types and Regions have fewer."""

MAX_INSTANCES_ACROSS_BLOCKS: Final = 256
"""Maximum number of instances in all blocks of an account, and of an organization on any one date."""

BLOCK_END_UTC: Final = time(11, 30)
"""Every block ends at this time of day, UTC."""

TERMINATION_BEFORE_END: Final = timedelta(minutes=30)
"""Time before the end at which EC2 starts to terminate instances."""

ULTRASERVER_TERMINATION_BEFORE_END: Final = timedelta(minutes=60)
"""Time before the end at which EC2 starts to terminate the instances of UltraServers."""

DRAIN_BEFORE_END: Final = timedelta(minutes=40)
"""Time before the end at which work must stop: ten minutes before EC2 starts to terminate instances."""

ULTRASERVER_DRAIN_BEFORE_END: Final = timedelta(minutes=70)
"""The same for UltraServers: ten minutes before EC2 starts to terminate their instances."""

EXTENSION_OPENS: Final = timedelta(days=57)
"""Time before the end from which an extension can be bought."""

EXTENSION_CLOSES: Final = timedelta(hours=1)
"""Time before the end until which an extension can be bought."""

BLOCK_PLATFORMS: Final = (
    "Linux/UNIX",
    "Red Hat Enterprise Linux",
    "RHEL with HA",
    "SUSE Linux",
    "Ubuntu Pro",
)
"""Platforms of Capacity Blocks; the AMI must have the same."""

BLOCK_DELIVERED_EVENTS: Final = ("Capacity Block Delivered", "Capacity Block Reservation Delivered")
"""Detail types of the event at the start: the current name, and that of older pages. Match both."""

BLOCK_EXPIRATION_WARNING_EVENTS: Final = (
    "Capacity Block Expiration Warning",
    "Capacity Block Reservation Expiration Warning",
)
"""Detail types of the event before the end: the current name, and that of older pages. Match both."""

INSTANCE_INTERRUPTION_WARNING_EVENT: Final = "EC2 Capacity Reservation Instance Interruption Warning"
"""Detail type of the event for each instance before it is terminated."""

_DAY: Final = timedelta(days=1)
_WEEK: Final = timedelta(days=7)
_DAILY_UP_TO: Final = timedelta(days=14)


def block_regions(instance_type: str) -> tuple[str, ...]:
    """Return the Regions with blocks of a type, or of its UltraServer: those of the guide, then others that were seen.

    Warn about a Region that is not listed, but do not reject it.
    """
    row = INSTANCE_TYPES.get(instance_type)
    if row is not None and row.ultraserver_type is not None:
        return ULTRASERVER_REGIONS[row.ultraserver_type]
    return BLOCK_REGIONS.get(instance_type, ()) + BLOCK_REGIONS_SEEN.get(instance_type, ())


def drain_before_end(instance_type: InstanceType) -> timedelta:
    """Return the time before the end of a block at which work on instances of this type must stop."""
    return ULTRASERVER_DRAIN_BEFORE_END if instance_type.in_ultraserver else DRAIN_BEFORE_END


def block_counts(count: int, least: int | None) -> tuple[int, ...]:
    """Return the numbers of instances to search for up to `count`, largest first; None stands for exactly `count`.

    Below it, those are powers of two, which AWS offers most (field reports, 2026-10).
    """
    least = count if least is None else least
    powers = {2**power for power in range(count.bit_length())}
    return tuple(sorted({count, least, *(each for each in powers if least <= each < count)}, reverse=True))


def is_block_duration(hours: int) -> bool:
    """Whether AWS sells blocks of this many hours: 1 to 14 days in days, then up to 182 days in weeks."""
    duration = timedelta(hours=hours)
    step = _DAY if duration <= _DAILY_UP_TO else _WEEK
    return SHORTEST_BLOCK <= duration <= LONGEST_BLOCK and not duration % step


def block_durations(*, min_hours: int, max_hours: int) -> tuple[int, ...]:
    """Return every duration that AWS sells, in hours, shortest first; both bounds are included."""
    day = _DAY // timedelta(hours=1)
    longest = min(max_hours, LONGEST_BLOCK // timedelta(hours=1))
    return tuple(
        hours for hours in range(day, longest + 1, day) if hours >= min_hours and is_block_duration(hours)
    )
