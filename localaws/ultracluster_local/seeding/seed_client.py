"""Requests to a running local AWS, in this process or in the background, for which AWS has no API: seed, reset, move the clock.

Importing this does not import moto.
"""

import json
import urllib.error
import urllib.request
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from ultracluster_local.errors import LocalAwsError, no_answer
from ultracluster_local.instance.environment import require_loopback

__all__ = ["SeedContainerImage", "SeedImage", "SeedReservation", "move_clock", "reset", "seed"]

_SECONDS = {"seed": 60, "reset": 30, "clock": 600, "inside": 10}
"""Timeouts; a move of the clock invokes functions."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SeedImage:
    """An AMI to seed.

    Attributes:
        image_id: AMI ID.
        region: Region.
        files: Texts of files, by absolute path, that image and user data put on a node. User data is not run, so nodes that
            run jobs have these files only. Default: none.
        shared: Path at which a node mounts the file system that its user data names. Default: none.
    """

    image_id: str
    region: str
    files: Mapping[str, str] = field(default_factory=dict)
    shared: str = ""


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
    _post(endpoint, key, "seed", order)


def reset(*, endpoint: str, key: str) -> None:
    """Discard all state of a local AWS.

    Raises:
        LocalAwsError: If `endpoint` is not a loopback address (UC8001), or the local AWS does not answer (UC8006).
    """
    _post(endpoint, key, "reset", {})


def move_clock(
    *, endpoint: str, key: str, to: datetime | None = None, most_firings: int = 10
) -> dict[str, Any]:
    """Move the clock of a local AWS forward, and run everything due until then.

    Args:
        endpoint: Endpoint URL of the local AWS.
        key: Access key ID of the local AWS.
        to: New time. Default: only read the clock.
        most_firings: Maximum firings of each schedule during the move. Default: 10.

    Returns:
        The time as ``now``, whether the clock ``stands``, what was ``delivered``, whether ``jobs`` run, and the resource types that
        stacks have and the local AWS records only, as ``recorded_only``.

    Raises:
        LocalAwsError: If `endpoint` is not a loopback address (UC8001), or the local AWS refuses or does not answer (UC8006).
    """
    order = {} if to is None else {"to": to.isoformat(), "most_firings": most_firings}
    answer: dict[str, Any] = _post(endpoint, key, "clock", order)
    if not isinstance(answer, dict) or "now" not in answer:
        raise _refused(endpoint, "clock", "another server answers there")
    return answer


def shell_directory(*, endpoint: str, key: str, name: str) -> tuple[str, dict[str, str]]:
    """Return the folder and the variables of a container that the local AWS runs, or of its node.

    Args:
        endpoint: Endpoint URL of the local AWS.
        key: Access key ID of the local AWS.
        name: ARN of the ECS task, or ID of the instance.

    Raises:
        LocalAwsError: If `endpoint` is not a loopback address (UC8001), or nothing runs there (UC8006).
    """
    answer = _post(endpoint, key, "inside", {"name": name})
    return answer["folder"], answer["environment"]


def _post(endpoint: str, key: str, path: str, order: Any) -> Any:
    request = urllib.request.Request(  # noqa: S310 - require_loopback takes http to this machine only
        f"{require_loopback(endpoint)}/_ultracluster/{path}",
        data=json.dumps(order, default=datetime.isoformat).encode(),
        headers={"Content-Type": "application/json", "Authorization": f"Bearer {key}"},
        method="POST",
    )
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=_SECONDS[path]) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        raise _refused(endpoint, path, error.read().decode(errors="replace")) from None
    except urllib.error.URLError as error:
        raise _refused(endpoint, path, str(error)) from None
    except ValueError:
        raise _refused(endpoint, path, "another server answers there") from None


def _refused(endpoint: str, path: str, reason: str) -> LocalAwsError:
    asked = {
        "seed": "take what the rollout needs",
        "clock": "move its clock",
        "reset": "reset",
        "inside": "open a shell",
    }[path]
    return no_answer(f"the local AWS at {endpoint} did not {asked}: {reason}")
