"""Events of Auto Scaling groups on the default bus."""

from ultracluster_local.events.delivery import deliver_to_rules, new_event
from ultracluster_local.instance.state import regions_with_state
from ultracluster_local.services.auto_scaling.group import notices

__all__ = ["deliver_notices"]


def deliver_notices() -> None:
    """Deliver the events of groups since the clock last moved."""
    for region in regions_with_state("autoscaling:notices"):
        waiting = notices(region)
        while waiting:
            deliver_to_rules(new_event(region=region, source="aws.autoscaling", **waiting.pop(0)))
