"""Edits of the valid rollout that add alarms to its cluster, or take away what alarms follow from."""

NETWORK_LINE = "        network: {cidr: 10.0.0.0/16}\n"

NOTIFY_LINE = "        notify: [ml@example.com]\n"

ON_DEMAND = ("market_type: capacity-block", "market_type: on-demand")


def with_alarms(alarms: str) -> tuple[str, str]:
    return (NETWORK_LINE, f"{NETWORK_LINE}        alarms: {alarms}\n")
