"""Delays of AWS that callers notice; none by default."""

from dataclasses import dataclass
from datetime import timedelta

from ultracluster_local.instance.state import region_state

__all__ = ["Delays", "delays"]

_AT_ONCE = timedelta(0)


@dataclass(slots=True)
class Delays:
    """Durations on the clock of the local AWS; deployments of CloudFormation wait for them without moving the clock.

    Attributes:
        batch: How long compute environments and job queues are CREATING, UPDATING and DELETING; changes are refused then.
        iam: How long a new role cannot be assumed by services yet.
    """

    batch: timedelta = _AT_ONCE
    iam: timedelta = _AT_ONCE


def delays() -> Delays:
    """Return the delays of the running local AWS; a reset discards them."""
    return region_state("delays", region="", new=Delays)
