"""Edits of the valid rollout that add capacity and queues to its cluster."""

OWN_BLOCK = 'reservation_id: cr-0123456789abcdef0\n          start: "2026-12-01T12:00:00Z"\n          end: "2026-12-04T11:30:00Z"'
OTHER_RESERVATION = "cr-0fedcba9876543210"
BEFORE_NETWORK = "        network: {cidr"
RESERVED = f"name: reserved, market_type: on-demand, reservation_id: {OTHER_RESERVATION}"
SPILL = "name: spill, market_type: on-demand, max_nodes: 2"
ON_DEMAND = ("market_type: capacity-block\n          " + OWN_BLOCK, "market_type: on-demand")


def further(*items: str) -> tuple[str, str]:
    """Add capacity, each item in flow style."""
    return BEFORE_NETWORK, "".join(
        ["        additional_capacity:\n", *(f"          - {{{i}}}\n" for i in items), BEFORE_NETWORK]
    )


def lines(text: str) -> tuple[str, str]:
    """Add a field to the cluster."""
    return BEFORE_NETWORK, f"        {text}\n{BEFORE_NETWORK}"


def capacity(text: str) -> tuple[str, str]:
    """Add a field to `capacity`, which is on-demand then."""
    return ON_DEMAND[0], f"{ON_DEMAND[1]}\n          {text}"
