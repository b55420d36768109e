"""Events of Auto Scaling groups, which reach EventBridge when the clock moves."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ultracluster_local.instance.state import region_state

__all__ = ["Notice", "notices"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Notice:
    """An event that has not been sent yet.

    Attributes:
        name: Detail type.
        resource: ARN of the group.
    """

    name: str
    detail: Mapping[str, Any]
    resource: str


def notices(region: str) -> list[Notice]:
    """Return the events of a Region that have not been sent yet."""
    return region_state("autoscaling:notices", region=region, new=list[Notice])
