"""What the ids and names that people hand to us look like: whole texts, as patterns of `re`."""

from typing import Final

__all__ = [
    "ECR_DOMAIN",
    "ECR_IMAGE",
    "FILE_SYSTEM_DNS_NAME",
    "FILE_SYSTEM_ID",
    "IAM_PATH",
    "IMAGE_ID",
    "LUSTRE_MOUNT_NAME",
    "PLACEMENT_GROUP",
    "RESERVATION_ID",
    "RESOURCE_GROUP_ARN",
    "SNS_TOPIC_ARN",
    "SOURCE_NAME",
    "ZONE_ID",
]

ECR_DOMAIN: Final = r"dkr\.ecr\.(?P<region>[a-z0-9-]+)\.amazonaws\.com(?:\.cn)?"
"""The part of an Amazon ECR registry's address after the account; ``.cn`` in China."""

ECR_IMAGE: Final = (
    rf"(?P<account>[0-9]{{12}})\.{ECR_DOMAIN}/(?P<repository>[a-z0-9._/-]+)"
    r"(?::(?P<tag>[A-Za-z0-9_.-]+))?(?:@(?P<digest>sha256:[0-9a-f]{64}))?"
)
"""An image in a private repository of Amazon ECR."""

FILE_SYSTEM_DNS_NAME: Final = r"fs-[0-9a-f]{8,18}\.fsx\.[a-z0-9.-]{4,230}"
"""The name that clients mount an FSx file system from."""

FILE_SYSTEM_ID: Final = "fs-[0-9a-f]{8,18}"
"""An FSx file system."""

IAM_PATH: Final = "/(?:[A-Za-z0-9_.,+@=-]{1,100}/){1,5}"
"""Where a role is in an account: of the 512 characters that IAM takes, up to five names. A slash alone is IAM's default."""

IMAGE_ID: Final = "ami-(?:[0-9a-f]{17}|[0-9a-f]{8})"
"""An AMI; old ones have the short form."""

RESERVATION_ID: Final = "cr-[0-9a-f]{17}"
"""A Capacity Reservation, which a Capacity Block is used through."""

RESOURCE_GROUP_ARN: Final = "arn:aws[a-z-]*:resource-groups:[a-z0-9-]+:[0-9]{12}:group/[A-Za-z0-9._/-]{1,300}"
"""A resource group; those that Resource Groups names itself end in a slash and 26 characters."""

LUSTRE_MOUNT_NAME: Final = "[A-Za-z0-9_-]{1,8}"
"""The name of a file system in the command that mounts it."""

PLACEMENT_GROUP: Final = r"[!-~](?:[ -~]{0,253}[!-~])?"
"""The name of a placement group: up to 255 ASCII characters, no space at the ends."""

SNS_TOPIC_ARN: Final = "arn:aws[a-z-]*:sns:[a-z0-9-]+:[0-9]{12}:[A-Za-z0-9_-]{1,256}"
"""An SNS topic."""

SOURCE_NAME: Final = "[a-z][a-z0-9-]{1,31}"
"""The name of a source of capacity or of a queue: a part of construct ids, as short as the other names."""

ZONE_ID: Final = "[a-z]+[0-9]+(?:-[a-z]+[0-9]+)?-az[0-9]+"
"""A zone id such as ``use2-az3``, or ``use1-atl2-az1`` for a Local Zone; the first part names the Region."""
