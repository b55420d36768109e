"""What the ids of EC2 that people hand to us look like: whole texts, as patterns of `re`."""

from typing import Final

__all__ = ["IMAGE_ID", "RESERVATION_ID"]

IMAGE_ID: Final = "ami-(?:[0-9a-f]{17}|[0-9a-f]{8})"
"""An AMI; old ones have the short form."""

RESERVATION_ID: Final = "cr-[0-9a-f]{17}"
"""A Capacity Reservation, which a Capacity Block is used through."""
