"""Lives through the time that the clock is moved over: everything due happens once, in order."""

from collections import deque
from datetime import datetime

from ultracluster_local.alarms.watch import AlarmWatch
from ultracluster_local.events.block_events import deliver_delayed, next_delayed, next_in_blocks
from ultracluster_local.events.scheduled import firings
from ultracluster_local.instance.clock import CLOCK
from ultracluster_local.instance.state import remembered

__all__ = ["EventSettings", "event_settings", "live_through"]


class EventSettings:
    """How the clock's moves are lived through.

    Attributes:
        most_firings: How often each rule or schedule fires at most in one move of the clock. Default: 10.
        evaluate_alarms: Whether the alarms of CloudWatch are evaluated at each minute. Default: no, because a move that
            thins schedules lacks the data of most minutes, and alarms on missing data would go off.
    """

    def __init__(self) -> None:
        self.most_firings = 10
        self.evaluate_alarms = False


def event_settings() -> EventSettings:
    """Return the settings; those of all Regions are the same."""
    return remembered("events:settings", region="", new=EventSettings)


def live_through(before: datetime, until: datetime) -> None:
    """Let everything happen that is due between two moments, the clock standing at each in its turn.

    At the same moment alarms come first, then blocks, then schedules.

    Raises:
        ValueError: If something is due that the local AWS cannot do.
    """
    scheduled = deque(firings(before, until, most=event_settings().most_firings))
    alarms = AlarmWatch() if event_settings().evaluate_alarms else None
    now = before
    while True:
        # Looked at anew each time: what happens may move the end of a block.
        in_blocks = next_in_blocks(now)
        coming = [
            moment
            for moment in (
                in_blocks[0] if in_blocks else None,
                next_delayed(now),
                scheduled[0].moment if scheduled else None,
            )
            if moment is not None and moment <= until
        ]
        then = min(coming, default=until)
        if alarms:
            alarms.look(now, then)
        if not coming:
            return
        now = then
        CLOCK.stand_at(now)
        if in_blocks and in_blocks[0] == now:
            for happen in in_blocks[1]:
                happen()
        deliver_delayed()
        while scheduled and scheduled[0].moment == now:
            scheduled.popleft().fire()
