from collections.abc import Mapping

import pytest

from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES
from ultracluster_catalog.places.zones import (
    OFFERED_ZONES,
    REGIONS,
    ZONE_ID_PREFIXES,
    offered_zones,
    region_of_zone_id,
)

_Offerings = Mapping[str, list[dict[str, str]]]


# botocore knows them, but AWS lists no zones for them yet.
_REGIONS_WITHOUT_ZONES = {"me-west-1", "sa-west-1"}


def test_knows_the_zones_that_ec2_offers_each_type_in(offerings: _Offerings) -> None:
    theirs: dict[str, set[str]] = {name: set() for name in INSTANCE_TYPES}
    for answers in offerings.values():
        for offering in answers:
            if offering["InstanceType"] in theirs:
                theirs[offering["InstanceType"]].add(offering["Location"])

    assert all(theirs.values())
    assert {name: set(zones) for name, zones in OFFERED_ZONES.items()} == theirs
    assert all(len(set(zones)) == len(zones) for zones in OFFERED_ZONES.values())


def test_knows_no_zones_of_types_that_the_catalogue_lacks() -> None:
    assert set(OFFERED_ZONES) == set(INSTANCE_TYPES)


def test_tells_the_region_of_every_zone_that_ec2_names(offerings: _Offerings) -> None:
    zones = {(offering["Location"], region) for region, answers in offerings.items() for offering in answers}

    assert len(zones) > 80
    assert [zone for zone in zones if region_of_zone_id(zone[0]) != zone[1]] == []


def test_knows_every_commercial_region_with_zones(commercial_regions: frozenset[str]) -> None:
    assert set(REGIONS) == commercial_regions - _REGIONS_WITHOUT_ZONES
    assert commercial_regions >= _REGIONS_WITHOUT_ZONES
    assert len(REGIONS) == len(ZONE_ID_PREFIXES)


@pytest.mark.parametrize(
    ("zone_id", "region"),
    [("use2-az3", "us-east-2"), ("use1-atl2-az1", "us-east-1"), ("aps2-az1", "ap-south-2")],
)
def test_tells_the_region_of_a_zone(zone_id: str, region: str) -> None:
    assert region_of_zone_id(zone_id) == region


def test_lists_the_zones_of_one_region() -> None:
    assert offered_zones("trn2.48xlarge", "us-east-2") == ("use2-az1", "use2-az2", "use2-az3")
    assert offered_zones("trn2.48xlarge", "us-east-1") == ()
    assert offered_zones("trn2.48xlarge") == OFFERED_ZONES["trn2.48xlarge"]
    assert offered_zones("m7i.large") == ()


@pytest.mark.parametrize("zone_id", ["us-east-2a", "use9-az1", ""])
def test_a_zone_of_no_known_region_is_not_found(zone_id: str) -> None:
    with pytest.raises(ValueError, match="not a zone ID of a known Region"):
        region_of_zone_id(zone_id)
