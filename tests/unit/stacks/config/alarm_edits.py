"""Edits of the valid rollout that add alarms to its cluster."""

NETWORK_LINE = "        network: {cidr: 10.0.0.0/16}\n"


def with_alarms(alarms: str) -> tuple[str, str]:
    return (NETWORK_LINE, f"{NETWORK_LINE}        alarms: {alarms}\n")
