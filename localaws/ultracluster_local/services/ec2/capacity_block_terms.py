"""Terms of Capacity Blocks for ML: what is sold where, for how long, and when a block ends.

Instance types, vCPUs and zones come from moto's recorded DescribeInstanceTypes and DescribeInstanceTypeOfferings. What
no API reports comes from the EC2 User Guide (read September to October 2026):
https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html
"""

from collections.abc import Mapping
from datetime import time, timedelta
from decimal import Decimal
from typing import Final

from moto.ec2.models.instance_types import INSTANCE_TYPE_OFFERINGS, INSTANCE_TYPES

__all__ = [
    "BLOCK_END_UTC",
    "DELIVERED_EVENTS",
    "EXPIRATION_WARNING_BEFORE_END",
    "EXPIRATION_WARNING_EVENTS",
    "EXTENSION_CLOSES",
    "EXTENSION_OPENS",
    "FURTHEST_START",
    "INTERRUPTION_WARNING_EVENT",
    "LONGEST_BLOCK",
    "MAX_INSTANCES",
    "NEAREST_START",
    "PLATFORMS",
    "TERMINATION_BEFORE_END",
    "ULTRASERVERS",
    "ULTRASERVER_TERMINATION_BEFORE_END",
    "is_offered_duration",
    "is_sold_by_instance",
    "list_price",
    "offered_zone_ids",
    "sold_in",
    "vcpus",
]

# The guide's table of Regions. It omits ap-south-2 for trn2.48xlarge, where offerings were seen on 2026-10-03.
_REGIONS: Final[Mapping[str, str]] = {
    "trn1.32xlarge": "us-east-1 us-east-2 us-west-2 eu-north-1 ap-south-1 ap-southeast-2 ap-southeast-4",
    "trn2.3xlarge": "ap-southeast-4 sa-east-1",
    "trn2.48xlarge": "us-east-2 ap-south-2",
    "trn2u.48xlarge": "us-east-2",
    "p4d.24xlarge": "us-east-1 us-east-2 us-west-2",
    "p4de.24xlarge": "us-east-1 us-west-2",
    "p5.4xlarge": "us-east-1 us-east-2 us-west-2 eu-west-2 ap-northeast-1 ap-south-1 ap-southeast-2 sa-east-1",
    "p5.48xlarge": (
        "us-east-1 us-east-2 us-west-1 us-west-2 eu-north-1 eu-west-2 ap-northeast-1 ap-south-1 ap-southeast-2 "
        "ap-southeast-3 sa-east-1"
    ),
    "p5e.48xlarge": (
        "us-east-1 us-east-2 us-west-1 us-west-2 eu-north-1 eu-west-2 ap-northeast-1 ap-south-1 ap-southeast-2 "
        "ap-southeast-3 sa-east-1"
    ),
    "p5en.48xlarge": (
        "us-east-1 us-east-2 us-west-1 us-west-2 eu-north-1 eu-west-2 eu-south-2 ap-northeast-1 ap-northeast-2 "
        "ap-south-1 ap-southeast-2 ap-southeast-3"
    ),
    "p6-b200.48xlarge": (
        "us-east-1 us-east-2 us-west-2 eu-north-1 eu-west-3 ap-south-1 ap-south-2 us-gov-east-1 us-gov-west-1"
    ),
    "p6-b300.48xlarge": "us-east-1 us-west-2 ap-northeast-2 ap-south-2 ap-southeast-3 us-gov-east-1",
}

# USD for an hour of an instance, in Regions of the United States if it is sold there: https://aws.amazon.com/ec2/capacityblocks/pricing/,
# of 2026-07-22. Those of UltraServers are not published by instance: the price of the same chips.
_LIST_PRICES: Final[Mapping[str, str]] = {
    "trn1.32xlarge": "9.532",
    "trn2.3xlarge": "2.235",
    "trn2.48xlarge": "35.7608",
    "trn2u.48xlarge": "35.7608",
    "p4d.24xlarge": "11.8",
    "p4de.24xlarge": "17.712",
    "p5.4xlarge": "5.191",
    "p5.48xlarge": "41.528",
    "p5e.48xlarge": "47.76",
    "p5en.48xlarge": "54.92",
    "p6-b200.48xlarge": "98.84",
    "p6-b300.48xlarge": "112.32",
}

ULTRASERVERS: Final[Mapping[str, tuple[str, int]]] = {"u-trn2x64": ("trn2u.48xlarge", 4)}
"""Instance type and number of instances of each UltraServer type: four instances of 16 Trainium2 chips share 64.

https://aws.amazon.com/ec2/instance-types/trn2/
"""

PLATFORMS: Final = ("Linux/UNIX", "Red Hat Enterprise Linux", "RHEL with HA", "SUSE Linux", "Ubuntu Pro")
"""Platforms that the guide lists for Capacity Blocks."""

MAX_INSTANCES: Final = 64
"""Instances of one block."""

NEAREST_START: Final = timedelta(minutes=30)
"""Offerings start this soon at the earliest."""

FURTHEST_START: Final = timedelta(weeks=8)
"""Offerings start this far ahead at the latest."""

BLOCK_END_UTC: Final = time(11, 30)
"""Time of day at which blocks end, in UTC."""

LONGEST_BLOCK: Final = timedelta(days=182)
"""Duration limit of a block including its extensions."""

EXTENSION_OPENS: Final = timedelta(days=57)
"""How long before its end a block can first be extended."""

EXTENSION_CLOSES: Final = timedelta(hours=1)
"""How long before its end a block can last be extended."""

EXPIRATION_WARNING_BEFORE_END: Final = timedelta(minutes=40)
"""When EC2 sends the expiration warning."""

TERMINATION_BEFORE_END: Final = timedelta(minutes=30)
"""When EC2 begins to terminate instances."""

ULTRASERVER_TERMINATION_BEFORE_END: Final = timedelta(minutes=60)
"""When EC2 begins to terminate the instances of UltraServers."""

# Two pages of the guide name the events differently: the current name, then that of older pages.
DELIVERED_EVENTS: Final = ("Capacity Block Delivered", "Capacity Block Reservation Delivered")
EXPIRATION_WARNING_EVENTS: Final = (
    "Capacity Block Expiration Warning",
    "Capacity Block Reservation Expiration Warning",
)
INTERRUPTION_WARNING_EVENT: Final = "EC2 Capacity Reservation Instance Interruption Warning"

_DAY: Final = timedelta(days=1)
_DAILY_UP_TO: Final = timedelta(days=14)


def is_offered_duration(hours: int) -> bool:
    """Return whether blocks of this many hours are sold: whole days up to 14, then whole weeks up to 182 days."""
    duration = timedelta(hours=hours)
    step = _DAY if duration <= _DAILY_UP_TO else 7 * _DAY
    return _DAY <= duration <= LONGEST_BLOCK and not duration % step


def is_sold_by_instance(instance_type: str) -> bool:
    """Return whether blocks of an instance type are sold by instance, as opposed to by UltraServer or not at all."""
    usage_classes = INSTANCE_TYPES.get(instance_type, {}).get("SupportedUsageClasses", ())
    in_ultraservers = any(instance_type == name for name, _ in ULTRASERVERS.values())
    return "capacity-block" in usage_classes and not in_ultraservers


def list_price(instance_type: str) -> Decimal:
    """Return the list price of an instance and hour in USD, or one cent where none is known."""
    return Decimal(_LIST_PRICES.get(instance_type, "0.01"))


def sold_in(instance_type: str, region: str) -> bool:
    """Return whether AWS sells blocks of an instance type in a Region."""
    return region in _REGIONS.get(instance_type, "").split()


def vcpus(instance_type: str) -> int:
    """Return the number of vCPUs of an instance type, which quotas count."""
    return int(INSTANCE_TYPES[instance_type]["VCpuInfo"]["DefaultVCpus"])


def offered_zone_ids(instance_type: str, region: str) -> list[str]:
    """Return the IDs of the zones of a Region that have an instance type, in alphabetical order."""
    offerings = INSTANCE_TYPE_OFFERINGS["availability-zone-id"].get(region, ())
    return sorted(each["Location"] for each in offerings if each["InstanceType"] == instance_type)
