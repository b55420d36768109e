from decimal import Decimal
from typing import Any

from tests.unit.runtime.purchasing.example_orders import offering

from ultracluster_runtime.purchasing.offerings import Offering, Segment
from ultracluster_runtime.purchasing.placement import PlacementRequest, PlacementRules, place

REGIONS = ("us-east-2", "ap-south-2", "eu-north-1")


def need(cluster: str, nodes: int = 16, instance_type: str = "trn2.48xlarge") -> PlacementRequest:
    return PlacementRequest(cluster=cluster, nodes=nodes, instance_type=instance_type)


def offered(name: str, region: str, fee: int, **changes: Any) -> Offering:
    return offering(offering_id=name, region=region, fee=Decimal(fee), **changes)


def rules(**changes: Any) -> PlacementRules:
    return PlacementRules(**{"regions": REGIONS, "max_fee": Decimal(200_000), **changes})


def chosen(*found: Offering | None) -> list[str | None]:
    return [each.offering_id if each else None for each in found]


OFFERED = [
    offered("dear", "us-east-2", 190_000),
    offered("cheap", "ap-south-2", 150_000),
    offered("middle", "us-east-2", 170_000),
]


def test_each_cluster_gets_the_best_remaining_offering() -> None:
    needs = [need(name) for name in ("a", "b", "c", "d")]

    assert chosen(*place(needs, OFFERED, rules=rules())) == ["cheap", "middle", "dear", None]
    assert chosen(*place(needs[:1], OFFERED, rules=rules(prefer="start"))) != [None]


def test_data_stays_in_allowed_regions() -> None:
    assert chosen(*place([need("a")], OFFERED, rules=rules(regions=("us-east-2",)))) == ["middle"]
    assert chosen(*place([need("a")], OFFERED, rules=rules(regions=("eu-north-1",)))) == [None]


def test_fee_is_accepted_up_to_the_maximum() -> None:
    for most, expected in ((150_000, "cheap"), (149_999, None)):
        assert chosen(*place([need("a")], OFFERED, rules=rules(max_fee=Decimal(most)))) == [expected]


def test_clusters_per_region_are_limited() -> None:
    needs = [need(name) for name in ("a", "b", "c")]

    assert chosen(*place(needs, OFFERED, rules=rules(max_per_region=1))) == ["cheap", "middle", None]


def test_a_name_is_used_once_in_a_region() -> None:
    found = place([need("a"), need("a")], OFFERED, rules=rules(), taken=[("a", "ap-south-2")])

    assert chosen(*found) == ["middle", None]


def test_type_size_zone_and_currency_must_match() -> None:
    segment = Segment(
        instance_type="trn2.48xlarge",
        zone_id="use2-az3",
        instance_count=16,
        start=OFFERED[0].start,
        end=OFFERED[0].end,
    )
    traps = [
        offered("type", "us-east-2", 1, instance_type="trn1.32xlarge"),
        offered("size", "us-east-2", 1, instance_count=32),
        offered("zones", "us-east-2", 1, zone_ids=("use2-az1", "use2-az3")),
        offered("no zone", "us-east-2", 1, zone_ids=()),
        offered("currency", "us-east-2", 1, currency="EUR"),
        offered("parts", "us-east-2", 1, segments=(segment,)),
    ]

    assert chosen(*place([need("a")], [*traps, *OFFERED], rules=rules())) == ["cheap"]
