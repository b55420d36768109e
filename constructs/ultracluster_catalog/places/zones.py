"""Availability Zones by zone ID: their Regions, and the zones that offer an instance type.

Zone IDs instead of names, because a name such as us-east-1a maps to different zones in different accounts.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from ultracluster_catalog.machines.instance_types import MACHINES
from ultracluster_catalog.names.identifiers import ZONE_ID

ZONE_ID_PREFIXES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "afs1": "af-south-1",
        "ape1": "ap-east-1",
        "ape2": "ap-east-2",
        "apne1": "ap-northeast-1",
        "apne2": "ap-northeast-2",
        "apne3": "ap-northeast-3",
        "aps1": "ap-south-1",
        "aps2": "ap-south-2",
        "apse1": "ap-southeast-1",
        "apse2": "ap-southeast-2",
        "apse3": "ap-southeast-3",
        "apse4": "ap-southeast-4",
        "apse5": "ap-southeast-5",
        "apse6": "ap-southeast-6",
        "apse7": "ap-southeast-7",
        "cac1": "ca-central-1",
        "caw1": "ca-west-1",
        "euc1": "eu-central-1",
        "euc2": "eu-central-2",
        "eun1": "eu-north-1",
        "eus1": "eu-south-1",
        "eus2": "eu-south-2",
        "euw1": "eu-west-1",
        "euw2": "eu-west-2",
        "euw3": "eu-west-3",
        "ilc1": "il-central-1",
        "mec1": "me-central-1",
        "mes1": "me-south-1",
        "mxc1": "mx-central-1",
        "sae1": "sa-east-1",
        "use1": "us-east-1",
        "use2": "us-east-2",
        "usw1": "us-west-1",
        "usw2": "us-west-2",
    }
)
"""Prefix of the zone IDs of each commercial Region (AWS Regions and Availability Zones guide, read October 2026).

botocore also knows me-west-1 and sa-west-1, for which that guide lists no zones yet.
"""

REGIONS: Final = tuple(sorted(ZONE_ID_PREFIXES.values()))
"""Every commercial Region with known zones, in alphabetical order."""

OFFERED_ZONES: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {name: machine.zone_ids for name, machine in MACHINES.items()}
)
"""Zone IDs that EC2 lists an instance type in, by instance type (DescribeInstanceTypeOfferings, copy in moto 5.2.5, 2026-08-21).

Capacity Blocks are sold elsewhere too (see `capacity_blocks.block_regions`), and offers change, so warn about a zone
that is not listed, but do not reject it.
"""


def region_of_zone_id(zone_id: str) -> str:
    """Return the Region of a zone ID, such as ``use2-az3`` or ``use1-atl2-az1``; ValueError if it is none."""
    is_zone_id = re.fullmatch(ZONE_ID, zone_id)
    region = ZONE_ID_PREFIXES.get(zone_id.partition("-")[0]) if is_zone_id else None
    if region is None:
        raise ValueError(f"{zone_id!a} is not a zone ID of a known Region")
    return region


def offered_zones(instance_type: str, region: str | None = None) -> tuple[str, ...]:
    """Return the zone IDs that EC2 lists an instance type in; empty for an unknown type. Default: of all Regions."""
    zones = OFFERED_ZONES.get(instance_type, ())
    return tuple(zone_id for zone_id in zones if region in {None, region_of_zone_id(zone_id)})
