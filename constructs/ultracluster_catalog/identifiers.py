"""What the ids and names that people hand to us look like: whole texts, as patterns of `re`."""

from typing import Final

__all__ = ["IMAGE_ID", "PLACEMENT_GROUP", "RESERVATION_ID", "RESOURCE_GROUP_ARN", "SOURCE_NAME"]

IMAGE_ID: Final = "ami-(?:[0-9a-f]{17}|[0-9a-f]{8})"
"""An AMI; old ones have the short form."""

RESERVATION_ID: Final = "cr-[0-9a-f]{17}"
"""A Capacity Reservation, which a Capacity Block is used through."""

RESOURCE_GROUP_ARN: Final = "arn:aws[a-z-]*:resource-groups:[a-z0-9-]+:[0-9]{12}:group/[A-Za-z0-9._/-]{1,300}"
"""A resource group; those that Resource Groups names itself end in a slash and 26 characters."""

PLACEMENT_GROUP: Final = "[\\x20-\\x7e]{1,255}"
"""The name of a placement group: up to 255 ASCII characters."""

SOURCE_NAME: Final = "[a-z][a-z0-9-]{1,31}"
"""The name of a source of capacity or of a queue: a part of construct ids, as short as the other names."""
