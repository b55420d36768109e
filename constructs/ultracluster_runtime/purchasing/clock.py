"""Judge the clock of this machine by AWS's: expiry, months and the 30 minutes of an order depend on it."""

from datetime import datetime, timedelta
from typing import Final

from ultracluster_runtime.purchasing import effects
from ultracluster_runtime.purchasing.fold import unanswered
from ultracluster_spec.findings import FindingsError
from ultracluster_spec.record import RuleRecord

MOST_CLOCK_SKEW: Final = timedelta(minutes=1)
"""Maximum difference between this machine's clock and AWS's."""


def check_clock() -> effects.Steps[None]:
    """Refuse a clock that differs from AWS's (UC7030), or that cannot be compared (UC7035)."""
    reply = yield effects.ReadClock()
    if isinstance(reply, effects.ReadFailed):
        raise unanswered(f"the clock of AWS could not be read: {reply.code}: {reply.message}")
    now: datetime = yield effects.Now()
    refuse_skew(now, reply)


def refuse_skew(now: datetime, server_time: datetime | None) -> None:
    """Refuse a clock (UC7030) that says `now` when AWS says `server_time`, or said it just before."""
    if server_time is not None and abs(now - server_time) <= MOST_CLOCK_SKEW:
        return
    said = server_time.isoformat() if server_time else "nothing"
    raise FindingsError.of(
        "UC7030",
        f"the clock of this machine says {now.isoformat()}, AWS says {said}",
        allowed=f"a difference of at most {MOST_CLOCK_SKEW.seconds // 60} minute",
        remedy="Synchronize the clock; nothing was bought",
    )


RECORDS: Final = (
    RuleRecord(
        "UC7030",
        "Nothing is approved or bought while the clock differs from AWS's by more than a minute.",
        remedy="Synchronize the clock, for example with NTP. Nothing was bought.",
        source="Our decision: approvals and evidence are judged by time. AWS itself refuses requests that are 5 minutes off (IAM user guide).",
    ),
)
