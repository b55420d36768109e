"""Seed a running local AWS, in this process or in the background, with the resources that a deployment refers to.

No AWS API creates a reservation with a given ID, so this uses an endpoint of its own. Importing it does not import moto.
"""

import json
import urllib.error
import urllib.request
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import datetime

from ultracluster_local.errors import LocalAwsError, no_answer
from ultracluster_local.instance.environment import require_loopback

__all__ = ["SeedContainerImage", "SeedImage", "SeedReservation", "seed"]


@dataclass(frozen=True, kw_only=True, slots=True)
class SeedImage:
    """An AMI to seed.

    Attributes:
        image_id: AMI ID.
        region: Region.
    """

    image_id: str
    region: str


@dataclass(frozen=True, kw_only=True, slots=True)
class SeedContainerImage:
    """An empty container image to seed in a private repository.

    Attributes:
        repository: Repository name.
        tag: Image tag.
        region: Region.
    """

    repository: str
    tag: str
    region: str


@dataclass(frozen=True, kw_only=True, slots=True)
class SeedReservation:
    """A Capacity Reservation to seed.

    Attributes:
        reservation_id: Reservation ID.
        region: Region.
        zone_id: Availability Zone ID.
        instance_type: Instance type.
        count: Number of instances.
        start: Start time with time zone.
        end: End time with time zone. None for an On-Demand Capacity Reservation without an end.
        block: Whether it belongs to a Capacity Block, which always has an end.
    """

    reservation_id: str
    region: str
    zone_id: str
    instance_type: str
    count: int
    start: datetime
    end: datetime | None
    block: bool


def seed(
    *,
    endpoint: str,
    key: str,
    regions: Iterable[str],
    images: Iterable[SeedImage] = (),
    container_images: Iterable[SeedContainerImage] = (),
    reservations: Iterable[SeedReservation] = (),
) -> None:
    """Bootstrap Regions for the CDK and seed images and reservations; existing ones are left unchanged.

    Args:
        endpoint: Endpoint URL of the local AWS.
        key: Access key ID of the local AWS.
        regions: Regions to bootstrap.
        images: AMIs to seed. Default: none.
        container_images: Container images to seed, with their repositories. Default: none.
        reservations: Reservations to seed. Default: none.

    Raises:
        LocalAwsError: If `endpoint` is not a loopback address (UC8001), or the local AWS refuses or does not answer (UC8006).
    """
    order = {
        "regions": sorted(regions),
        "images": [asdict(image) for image in images],
        "container_images": [asdict(image) for image in container_images],
        "reservations": [asdict(reservation) for reservation in reservations],
    }
    request = urllib.request.Request(  # noqa: S310 - require_loopback takes http to this machine only
        f"{require_loopback(endpoint)}/_ultracluster/seed",
        data=json.dumps(order, default=datetime.isoformat).encode(),
        headers={"Content-Type": "application/json", "Authorization": f"Bearer {key}"},
        method="POST",
    )
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=60):
            pass
    except urllib.error.HTTPError as error:
        raise _refused(endpoint, error.read().decode(errors="replace")) from None
    except urllib.error.URLError as error:
        raise _refused(endpoint, str(error)) from None


def _refused(endpoint: str, reason: str) -> LocalAwsError:
    return no_answer(f"the local AWS at {endpoint} did not take what the rollout needs: {reason}")
