"""What a rollout refers to can be put into a running local AWS by its address."""

import threading
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from ultracluster_local import LocalAws
from ultracluster_local.errors import LocalAwsError
from ultracluster_local.seeding.seed_client import SeedImage, SeedReservation, move_clock, seed

pytestmark = pytest.mark.slow

NOW = datetime.now(UTC)


def reservation(**changes: Any) -> SeedReservation:
    settings: dict[str, Any] = {
        "reservation_id": "cr-0123456789abcdef0",
        "region": "us-east-2",
        "zone_id": "use2-az3",
        "instance_type": "trn2.48xlarge",
        "count": 4,
        "start": NOW - timedelta(hours=1),
        "end": NOW + timedelta(days=1),
        "block": True,
    }
    return SeedReservation(**settings | changes)


def described(local_aws: LocalAws) -> dict[str, Any]:
    (found,) = local_aws.client("ec2", "us-east-2").describe_capacity_reservations(
        CapacityReservationIds=["cr-0123456789abcdef0"]
    )["CapacityReservations"]
    result: dict[str, Any] = found
    return result


def test_a_block_exists(local_aws: LocalAws) -> None:
    seed(endpoint=local_aws.endpoint, key=local_aws.key, regions=["us-east-2"], reservations=[reservation()])

    found = described(local_aws)
    assert found["State"] == "active"
    assert found["ReservationType"] == "capacity-block"
    assert found["TotalInstanceCount"] == 4
    assert found["AvailabilityZoneId"] == "use2-az3"


def test_a_block_that_has_not_started_is_scheduled(local_aws: LocalAws) -> None:
    later = reservation(start=NOW + timedelta(hours=1))
    seed(endpoint=local_aws.endpoint, key=local_aws.key, regions=["us-east-2"], reservations=[later])

    assert described(local_aws)["State"] == "scheduled"


def test_an_on_demand_reservation_has_no_end(local_aws: LocalAws) -> None:
    on_demand = reservation(end=None, block=False)
    seed(endpoint=local_aws.endpoint, key=local_aws.key, regions=["us-east-2"], reservations=[on_demand])

    found = described(local_aws)
    assert found["State"] == "active"
    assert found["EndDateType"] == "unlimited"
    assert found.get("ReservationType") != "capacity-block"


def test_what_exists_stays_as_it_is(local_aws: LocalAws) -> None:
    for count in (4, 8):
        seed(
            endpoint=local_aws.endpoint,
            key=local_aws.key,
            regions=["us-east-2"],
            reservations=[reservation(count=count)],
        )

    assert described(local_aws)["TotalInstanceCount"] == 4


def test_an_image_exists_and_is_marked_as_a_fake(local_aws: LocalAws) -> None:
    for _ in range(2):
        image = SeedImage(image_id="ami-0123456789abcdef0", region="us-east-2")
        seed(endpoint=local_aws.endpoint, key=local_aws.key, regions=["us-east-2"], images=[image])

    (found,) = local_aws.client("ec2", "us-east-2").describe_images(ImageIds=["ami-0123456789abcdef0"])[
        "Images"
    ]
    assert "fake" in found["Description"]


def test_a_region_is_bootstrapped_for_the_cdk(local_aws: LocalAws) -> None:
    seed(endpoint=local_aws.endpoint, key=local_aws.key, regions=["eu-north-1"])

    buckets = local_aws.client("s3").list_buckets()["Buckets"]
    assert "cdk-hnb659fds-assets-123456789012-eu-north-1" in [bucket["Name"] for bucket in buckets]


def test_a_zone_that_the_region_does_not_have_is_a_finding(local_aws: LocalAws) -> None:
    with pytest.raises(LocalAwsError, match=r"^UC8006: .*us-east-2 has no zone use2-az9"):
        seed(
            endpoint=local_aws.endpoint,
            key=local_aws.key,
            regions=["us-east-2"],
            reservations=[reservation(zone_id="use2-az9")],
        )


def test_a_local_aws_that_does_not_answer_is_a_finding() -> None:
    with pytest.raises(LocalAwsError, match="UC8006"):
        seed(endpoint="http://localhost:1", key="LOCAL1", regions=[])


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b"{}"])
def test_another_server_at_the_endpoint_is_a_finding(body: bytes) -> None:
    class Other(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Other) as server:
        threading.Thread(target=server.handle_request).start()
        with pytest.raises(LocalAwsError, match=r"UC8006: .*another server answers there"):
            move_clock(endpoint=f"http://127.0.0.1:{server.server_port}", key="LOCAL1")


def test_only_this_machine_can_be_asked() -> None:
    with pytest.raises(LocalAwsError, match="UC8001"):
        seed(endpoint="https://ec2.us-east-2.amazonaws.com", key="LOCAL1", regions=[])
