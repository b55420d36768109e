"""Derive the state of an alarm from data points: "M out of N" and missing data.

Source: CloudWatch User Guide, "Configuring how CloudWatch alarms treat missing data" and "Avoiding premature transitions to
alarm state", read 2026-11-21. How far back CloudWatch looks beyond the evaluation periods is not documented; in all examples
of the guide it is two periods, and so it is here.
"""

import operator
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, Literal

__all__ = ["COMPARISONS", "FURTHER_PERIODS", "State", "next_state"]

State = Literal["OK", "ALARM", "INSUFFICIENT_DATA"]

FURTHER_PERIODS: Final = 2
"""Periods before the evaluation periods that are considered when some of these have no data."""

COMPARISONS: Final[Mapping[str, Callable[[float, float], bool]]] = MappingProxyType(
    {
        "GreaterThanOrEqualToThreshold": operator.ge,
        "GreaterThanThreshold": operator.gt,
        "LessThanOrEqualToThreshold": operator.le,
        "LessThanThreshold": operator.lt,
    }
)
"""Comparison operators; anomaly detection bands are not supported."""


def next_state(
    breaching: Sequence[bool | None], *, evaluation_periods: int, to_alarm: int, missing: str, before: State
) -> State:
    """Return the next state of an alarm.

    Args:
        breaching: Whether the data point of each period breaches the threshold, oldest first; None where it is missing.
            As many as the evaluation range has.
        evaluation_periods: N in "M out of N".
        to_alarm: M in "M out of N".
        missing: Treatment of missing data: ``missing``, ``ignore``, ``breaching`` or ``notBreaching``.
        before: Current state.
    """
    # The data point of age 1 is the newest. Only as many real points are needed as there are evaluation periods.
    real = [(age, point) for age, point in enumerate(reversed(breaching), start=1) if point is not None]
    used = real[:evaluation_periods]
    breaches = sum(point for _, point in used)
    filled = evaluation_periods - len(used)
    if not filled or breaches >= to_alarm:
        return "ALARM" if breaches >= to_alarm else "OK"
    match missing:
        case "breaching":
            return "ALARM" if breaches + filled >= to_alarm else "OK"
        case "notBreaching":
            return "OK"
    if not used:
        return before if missing == "ignore" else "INSUFFICIENT_DATA"
    # All data points breach, and the oldest is M periods old: the alarm does not wait for more.
    if all(point for _, point in used) and used[-1][0] >= to_alarm:
        return before if missing == "ignore" else "ALARM"
    return "OK"
