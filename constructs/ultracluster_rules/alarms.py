"""Rules for the alarms of a cluster."""

from ultracluster_catalog.observability.alarms import THRESHOLD_BOUNDS, AlarmThresholds
from ultracluster_rules.findings import Finding, quote

__all__ = ["check_alarm_thresholds"]


def check_alarm_thresholds(thresholds: AlarmThresholds) -> list[Finding]:
    """Check that every alarm threshold is an integer within its bounds.

    Args:
        thresholds: Alarm thresholds of a cluster.

    Returns:
        UC6440 for each threshold that is not.
    """
    return [
        Finding(
            code="UC6440",
            problem=f"got {quote(value)}",
            allowed=f"a whole number, {least:,} to {most:,}",
            path=name,
        )
        for name, (least, most) in THRESHOLD_BOUNDS.items()
        if isinstance(value := getattr(thresholds, name), bool)
        or not isinstance(value, int)
        or not least <= value <= most
    ]
