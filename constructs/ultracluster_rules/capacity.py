"""Rules for buying capacity."""

from datetime import timedelta

from ultracluster_catalog.capacity.capacity_blocks import LONGEST_BLOCK, block_durations, is_block_duration
from ultracluster_rules.findings import Finding, quote

__all__ = ["check_block_duration"]


def check_block_duration(hours: int) -> list[Finding]:
    """Check whether AWS sells Capacity Blocks of a duration.

    Args:
        hours: Duration in hours.

    Returns:
        UC7101 with the nearest valid durations if it does not.
    """
    if is_block_duration(hours):
        return []
    sold = block_durations(min_hours=0, max_hours=LONGEST_BLOCK // timedelta(hours=1))
    shorter = [duration for duration in sold if duration < hours][-1:]
    longer = [duration for duration in sold if duration > hours][:1]
    nearest = " and ".join(f"{duration} hours" for duration in shorter + longer)
    return [
        Finding(
            code="UC7101",
            problem=f"got {quote(hours)} hours",
            allowed="1 to 14 days in whole days (24 to 336 hours), or 21 to 182 days in whole weeks",
            remedy=f"Nearest valid durations: {nearest}.",
        )
    ]
