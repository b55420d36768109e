"""Availability Zones by zone id: which Region they belong to, and which of them offer an instance type.

Zone ids, never zone names: a name such as us-east-1a may mean another zone in another account.
"""

import re
from collections.abc import Mapping
from datetime import date
from types import MappingProxyType
from typing import Final

from ultracluster_catalog.names.identifiers import ZONE_ID
from ultracluster_rules.findings import Finding, FindingsError, quote

__all__ = [
    "OFFERED_ZONES",
    "OFFERED_ZONES_DATED",
    "OFFERED_ZONES_SOURCE",
    "REGIONS",
    "ZONE_ID_PREFIXES",
    "offered_zones",
    "region_of_zone_id",
]

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
"""Start of the zone ids of each commercial Region (AWS Regions and Availability Zones guide, read October 2026).

botocore names two Regions more, me-west-1 and sa-west-1, for which that guide lists no zones yet.
"""

REGIONS: Final = tuple(sorted(ZONE_ID_PREFIXES.values()))
"""Every commercial Region with known zones, in alphabetical order."""

OFFERED_ZONES_SOURCE: Final = "EC2 DescribeInstanceTypeOfferings by zone id (copy in moto 5.2.5)"
"""Where `OFFERED_ZONES` comes from."""

OFFERED_ZONES_DATED: Final = date(2026, 8, 21)
"""The day of the newest evidence for `OFFERED_ZONES`."""

_OFFERED: Final[Mapping[str, str]] = {
    "trn1.2xlarge": "use1-az5 use1-az6 use2-az3 usw2-az1 usw2-az4",
    "trn1.32xlarge": (
        "aps1-az2 apse2-az1 apse2-az2 apse4-az1 use1-az4 use1-az5 use1-az6 use2-az3 usw2-az1 usw2-az4"
    ),
    "trn1n.32xlarge": "use1-az6 use2-az3 usw2-az4",
    "trn2.3xlarge": "aps2-az1 aps2-az2 aps2-az3 apse4-az3 sae1-az1 sae1-az2 sae1-az3",
    "trn2.48xlarge": "aps2-az1 aps2-az2 aps2-az3 use2-az1 use2-az2 use2-az3",
    "trn2u.48xlarge": "aps2-az1 aps2-az2 aps2-az3",
    "inf2.xlarge": (
        "apne1-az1 apne1-az4 apne2-az1 apne2-az2 apne2-az3 aps1-az1 aps1-az3 apse1-az2 apse1-az3 "
        "apse2-az1 apse2-az3 euc1-az2 euc1-az3 eun1-az1 eun1-az2 euw1-az1 euw1-az2 euw1-az3 euw2-az2 "
        "euw3-az2 euw3-az3 sae1-az3 use1-az2 use1-az4 use1-az5 use1-az6 use2-az1 use2-az2 use2-az3 "
        "usw2-az1 usw2-az2 usw2-az3 usw2-az4"
    ),
    "inf2.8xlarge": (
        "apne1-az1 apne1-az4 aps1-az1 aps1-az3 apse1-az2 apse1-az3 apse2-az1 apse2-az3 euc1-az2 "
        "euc1-az3 eun1-az1 eun1-az2 euw1-az1 euw1-az2 euw1-az3 euw2-az2 euw3-az2 euw3-az3 sae1-az3 "
        "use1-az2 use1-az4 use1-az5 use1-az6 use2-az1 use2-az2 use2-az3 usw2-az1 usw2-az2 usw2-az3 "
        "usw2-az4"
    ),
    "inf2.24xlarge": (
        "apne1-az1 apne1-az4 aps1-az1 aps1-az3 apse1-az2 apse1-az3 apse2-az1 apse2-az3 euc1-az2 "
        "euc1-az3 eun1-az1 eun1-az2 euw1-az1 euw1-az2 euw1-az3 euw2-az2 euw3-az2 euw3-az3 sae1-az3 "
        "use1-az2 use1-az4 use1-az5 use1-az6 use2-az1 use2-az2 use2-az3 usw2-az1 usw2-az2 usw2-az3 "
        "usw2-az4"
    ),
    "inf2.48xlarge": (
        "apne1-az1 apne1-az4 aps1-az1 aps1-az3 apse1-az2 apse1-az3 apse2-az1 apse2-az3 euc1-az2 "
        "euc1-az3 eun1-az1 eun1-az2 euw1-az1 euw1-az2 euw1-az3 euw2-az2 euw3-az2 euw3-az3 sae1-az3 "
        "use1-az2 use1-az4 use1-az5 use1-az6 use2-az1 use2-az2 use2-az3 usw2-az1 usw2-az2 usw2-az3 "
        "usw2-az4"
    ),
    "p4d.24xlarge": (
        "apne1-az1 apne1-az4 apne2-az2 apne2-az4 aps1-az1 aps1-az2 aps1-az3 apse2-az1 apse2-az2 "
        "cac1-az1 cac1-az2 euc1-az1 euc1-az2 euc1-az3 eun1-az3 euw1-az2 euw2-az2 euw2-az3 sae1-az1 "
        "sae1-az3 use1-az1 use1-az2 use1-az4 use1-az6 use2-az1 use2-az2 use2-az3 usw2-az1 usw2-az2 "
        "usw2-az3 usw2-az4"
    ),
    "p4de.24xlarge": (
        "apne1-az1 apne1-az4 apse1-az2 apse1-az3 euc1-az1 euc1-az2 ilc1-az1 ilc1-az2 ilc1-az3 use1-az4 "
        "use1-az6 usw2-az1 usw2-az2 usw2-az3"
    ),
    "p5.4xlarge": (
        "apne1-az1 aps1-az1 aps1-az2 aps1-az3 apse2-az3 apse3-az1 eun1-az1 eun1-az2 eun1-az3 euw2-az1 "
        "euw2-az2 euw2-az3 sae1-az3 use1-az1 use1-az2 use1-az3 use1-az4 use1-az5 use1-az6 use2-az1 "
        "use2-az2 use2-az3 usw2-az1 usw2-az2 usw2-az3 usw2-az4"
    ),
    "p5.48xlarge": (
        "apne1-az1 apne1-az4 apne2-az1 aps1-az1 aps1-az2 aps1-az3 apse2-az1 apse2-az2 apse2-az3 "
        "apse3-az1 cac1-az4 eun1-az1 eun1-az2 eun1-az3 euw2-az1 euw2-az2 euw2-az3 sae1-az3 use1-az1 "
        "use1-az2 use1-az3 use1-az4 use1-az5 use1-az6 use2-az1 use2-az2 use2-az3 usw1-az1 usw1-az3 "
        "usw2-az1 usw2-az2 usw2-az3 usw2-az4"
    ),
    "p5e.48xlarge": (
        "apse2-az3 apse3-az1 apse3-az3 eun1-az1 euw2-az2 sae1-az2 sae1-az3 use2-az1 use2-az2 use2-az3 "
        "usw2-az3"
    ),
    "p5en.48xlarge": (
        "apne1-az4 apne2-az1 aps1-az1 aps1-az3 apse3-az2 apse3-az3 eun1-az1 eun1-az3 eus2-az1 eus2-az2 "
        "mec1-az1 mec1-az3 use1-az2 use1-az6 use2-az1 use2-az2 use2-az3 usw1-az3 usw2-az2 usw2-az3 "
        "usw2-az4"
    ),
    "p6-b200.48xlarge": (
        "aps1-az2 aps2-az2 eun1-az2 euw3-az1 use1-az6 use2-az1 use2-az2 use2-az3 usw2-az1 usw2-az2 usw2-az4"
    ),
    "p6-b300.48xlarge": (
        "apne2-az3 aps2-az1 aps2-az3 apse3-az1 apse3-az2 apse3-az3 sae1-az2 sae1-az3 use1-az2 use1-az6 "
        "usw2-az1 usw2-az2"
    ),
}

OFFERED_ZONES: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {name: tuple(zone_ids.split()) for name, zone_ids in _OFFERED.items()}
)
"""Zone ids that EC2 lists an instance type in, by instance type.

Capacity Blocks are sold elsewhere too (see `capacity_blocks.block_regions`), and offers come and go: a zone that is
not listed deserves a warning, never a refusal.
"""


def region_of_zone_id(zone_id: str) -> str:
    """Tell the Region of a zone.

    Args:
        zone_id: Such as ``use2-az3``; for a Local Zone such as ``use1-atl2-az1``.

    Raises:
        FindingsError: UC3003 when that is no zone id or belongs to no Region of the catalogue.
    """
    is_zone_id = re.fullmatch(ZONE_ID, zone_id)
    region = ZONE_ID_PREFIXES.get(zone_id.partition("-")[0]) if is_zone_id else None
    if region is None:
        raise FindingsError(
            [
                Finding(
                    code="UC3003",
                    problem=f"{quote(zone_id)} is not a zone id of a known Region",
                    allowed="a zone id such as use2-az3",
                    remedy="`aws ec2 describe-availability-zones` shows the zone id of each zone name.",
                )
            ]
        )
    return region


def offered_zones(instance_type: str, region: str | None = None) -> tuple[str, ...]:
    """List the zone ids that EC2 lists an instance type in.

    Args:
        instance_type: The API name.
        region: Only the zones of this Region. Default: of all Regions.

    Returns:
        Zone ids; empty for a type that is unknown or not listed in the Region.
    """
    zones = OFFERED_ZONES.get(instance_type, ())
    return tuple(zone_id for zone_id in zones if region in {None, region_of_zone_id(zone_id)})
