"""Rules for the alarms of a cluster."""

from typing import Final

from ultracluster_catalog.observability.alarms import THRESHOLD_BOUNDS, AlarmThresholds
from ultracluster_rules.findings import Finding, quote
from ultracluster_rules.values import Between

__all__ = ["THRESHOLDS", "check_alarm_thresholds"]


THRESHOLDS: Final = {
    name: Between(code="UC6440", least=least, most=most) for name, (least, most) in THRESHOLD_BOUNDS.items()
}
"""Bounds of each threshold, by its name in `AlarmThresholds`."""


def check_alarm_thresholds(thresholds: AlarmThresholds) -> list[Finding]:
    """Check that every alarm threshold is an integer within its bounds.

    Args:
        thresholds: Alarm thresholds of a cluster.

    Returns:
        UC6440 for each threshold that is not.
    """
    return [
        Finding(
            code=bounds.code,
            problem=f"got {quote(value)}",
            allowed=f"a whole number, {bounds.least:,} to {bounds.most:,}",
            path=name,
        )
        for name, bounds in THRESHOLDS.items()
        if isinstance(value := getattr(thresholds, name), bool)
        or not isinstance(value, int)
        or bounds.check(value)
    ]
