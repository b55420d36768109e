"""Edits of the valid rollout that add capacity and queues to its cluster."""

BEFORE_NETWORK = "        network: {cidr"
RESERVED = "name: reserved, market_type: on-demand, reservation_id: cr-0fedcba9876543210"
SPILL = "name: spill, market_type: on-demand, max_nodes: 2"


def further(*items: str) -> tuple[str, str]:
    """Add capacity, each item in flow style."""
    return BEFORE_NETWORK, "".join(
        ["        additional_capacity:\n", *(f"          - {{{i}}}\n" for i in items), BEFORE_NETWORK]
    )


def lines(text: str) -> tuple[str, str]:
    """Add a field to the cluster."""
    return BEFORE_NETWORK, f"        {text}\n{BEFORE_NETWORK}"
