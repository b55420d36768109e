"""Puts what a rollout refers to into a running local AWS, by its address: in this process or in the background.

No API of AWS makes a reservation with a given id, so this goes another way. Importing it does not import moto.
"""

import json
import urllib.error
import urllib.request
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import datetime

from ultracluster_local.instance.environment import require_loopback
from ultracluster_rules.findings import Finding, FindingsError

__all__ = ["SeedContainerImage", "SeedImage", "SeedReservation", "seed"]


@dataclass(frozen=True, kw_only=True, slots=True)
class SeedImage:
    """An AMI that shall exist.

    Attributes:
        image_id: Its id.
        region: Its Region.
    """

    image_id: str
    region: str


@dataclass(frozen=True, kw_only=True, slots=True)
class SeedContainerImage:
    """A container image that shall exist in a private repository; there is nothing in it.

    Attributes:
        repository: Its repository.
        tag: Its tag.
        region: Its Region.
    """

    repository: str
    tag: str
    region: str


@dataclass(frozen=True, kw_only=True, slots=True)
class SeedReservation:
    """A Capacity Reservation that shall exist.

    Attributes:
        reservation_id: Its id.
        region: Its Region.
        zone_id: Id of its zone.
        instance_type: Type of its instances.
        count: Number of its instances.
        start: When it starts, with a time zone.
        end: When it ends, with a time zone. None for an On-Demand Capacity Reservation without an end.
        block: Whether it is that of a Capacity Block; then it has an end.
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
    regions: Iterable[str],
    images: Iterable[SeedImage] = (),
    container_images: Iterable[SeedContainerImage] = (),
    reservations: Iterable[SeedReservation] = (),
) -> None:
    """Bootstrap Regions for the CDK, and let images and reservations exist; what exists already stays as it is.

    Args:
        endpoint: Address of the local AWS.
        regions: Regions to bootstrap.
        images: AMIs that shall exist. Default: none.
        container_images: Container images that shall exist, with their repositories. Default: none.
        reservations: Reservations that shall exist. Default: none.

    Raises:
        FindingsError: If the address is not of this machine (UC8001), or the local AWS refuses or does not answer (UC8006).
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
        headers={"Content-Type": "application/json"},
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


def _refused(endpoint: str, why: str) -> FindingsError:
    return FindingsError(
        [
            Finding(
                code="UC8006",
                problem=f"the local AWS at {endpoint} did not take what the rollout needs: {why}",
            )
        ]
    )
