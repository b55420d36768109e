"""Run everything due during a move of the clock, once and in order."""

from collections import deque
from datetime import datetime

from ultracluster_local.alarms.watch import AlarmWatch
from ultracluster_local.events.block_events import deliver_delayed, next_delayed, next_in_blocks
from ultracluster_local.events.scaling_events import deliver_notices
from ultracluster_local.events.scheduled import firings
from ultracluster_local.instance.clock import CLOCK
from ultracluster_local.instance.state import region_state
from ultracluster_local.services.auto_scaling.scaling import next_scaling

__all__ = ["EventSettings", "event_settings", "run_due"]


class EventSettings:
    """Settings for moves of the clock.

    Attributes:
        most_firings: Maximum firings of each rule or schedule in one move of the clock. Default: 10.
        evaluate_alarms: Whether to evaluate CloudWatch alarms at each minute. Default: False, because a move that
            limits firings lacks the data of most minutes, and alarms on missing data would fire.
    """

    def __init__(self) -> None:
        self.most_firings = 10
        self.evaluate_alarms = False


def event_settings() -> EventSettings:
    """Return the settings; those of all Regions are the same."""
    return region_state("events:settings", region="", new=EventSettings)


def run_due(before: datetime, until: datetime) -> None:
    """Run everything due between two times, with the clock set to each due time in turn.

    At the same time, alarms come first, then blocks, then Auto Scaling groups, then schedules.

    Raises:
        ValueError: If something due is not supported.
    """
    scheduled = deque(firings(before, until, most=event_settings().most_firings))
    alarms = AlarmWatch() if event_settings().evaluate_alarms else None
    now = before
    deliver_notices()
    while True:
        # The events are read again each time: an action may move the end of a block.
        in_blocks, in_groups = next_in_blocks(now), next_scaling(now)
        coming = [
            moment
            for moment in (
                in_blocks[0] if in_blocks else None,
                in_groups[0] if in_groups else None,
                next_delayed(now),
                scheduled[0].moment if scheduled else None,
            )
            if moment is not None and moment <= until
        ]
        then = min(coming, default=until)
        if alarms:
            alarms.evaluate(now, then)
        if not coming:
            return
        now = then
        CLOCK.stand_at(now)
        for happenings in (in_blocks, in_groups):
            if happenings and happenings[0] == now:
                for happen in happenings[1]:
                    happen()
        deliver_delayed()
        deliver_notices()
        while scheduled and scheduled[0].moment == now:
            scheduled.popleft().fire()
