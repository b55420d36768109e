"""A Capacity Block and instances in it."""

from datetime import UTC, datetime
from typing import Any

from tests.events.event_rules import REGION

from ultracluster_local import LocalAws
from ultracluster_local.seeding.seed import seed_capacity_block

START = datetime(2026, 12, 2, 11, 30, tzinfo=UTC)
END = datetime(2026, 12, 3, 11, 30, tzinfo=UTC)
RESERVATION = "cr-0123456789abcdef0"
IMAGE = [{"Name": "name", "Values": ["al2023-ami-2023*"]}]  # of the thousand that a Region has


def seed(instance_type: str = "trn2.48xlarge", end: datetime = END) -> None:
    seed_capacity_block(
        reservation_id=RESERVATION,
        instance_type=instance_type,
        count=4,
        zone_id="use2-az3",
        start=START,
        end=end,
        region=REGION,
    )


def launch(local: LocalAws, count: int, *, least: int | None = None, **changes: Any) -> list[dict[str, Any]]:
    ec2 = local.client("ec2", REGION)
    request: dict[str, Any] = {
        "ImageId": ec2.describe_images(Filters=IMAGE)["Images"][0]["ImageId"],
        "InstanceType": "trn2.48xlarge",
        "MinCount": count if least is None else least,
        "MaxCount": count,
        "InstanceMarketOptions": {"MarketType": "capacity-block"},
        "CapacityReservationSpecification": {
            "CapacityReservationTarget": {"CapacityReservationId": RESERVATION}
        },
        **changes,
    }
    found: list[dict[str, Any]] = ec2.run_instances(**request)["Instances"]
    return found
