"""Regular expressions for IDs and names; each matches the whole text."""

from typing import Final

ECR_DOMAIN: Final = r"dkr\.ecr\.(?P<region>[a-z0-9-]+)\.amazonaws\.com(?:\.cn)?"
"""The part of an Amazon ECR registry's address after the account; ``.cn`` in China."""

AWS_IMAGES: Final = "763104351884"
"""Account of AWS Deep Learning Containers in most Regions ("Available images" of their repository, 2026-11)."""

ECR_IMAGE: Final = (
    rf"(?P<account>[0-9]{{12}})\.{ECR_DOMAIN}/(?P<repository>[a-z0-9._/-]+)"
    r"(?::(?P<tag>[A-Za-z0-9_.-]+))?(?:@(?P<digest>sha256:[0-9a-f]{64}))?"
)
"""An image in a private repository of Amazon ECR."""

FILE_SYSTEM_DNS_NAME: Final = r"fs-[0-9a-f]{8,18}\.fsx\.[a-z0-9.-]{4,230}"
"""DNS name of an FSx file system."""

FILE_SYSTEM_ID: Final = "fs-[0-9a-f]{8,18}"
"""ID of an FSx file system."""

IAM_PATH: Final = "/(?:[A-Za-z0-9_.,+@=-]{1,100}/){1,5}"
"""IAM path of a role, with up to five names of the 512 characters that IAM allows. A slash alone is IAM's default."""

IMAGE_ID: Final = "ami-(?:[0-9a-f]{17}|[0-9a-f]{8})"
"""ID of an AMI; old AMIs have the short form."""

REGION: Final = "[a-z]{2}(?:-[a-z]+)+-[0-9]"
"""Name of a Region."""

RESERVATION_ID: Final = "cr-[0-9a-f]{17}"
"""ID of a Capacity Reservation; a Capacity Block has one, too."""

RESOURCE_GROUP_ARN: Final = "arn:aws[a-z-]*:resource-groups:[a-z0-9-]+:[0-9]{12}:group/[A-Za-z0-9._/-]{1,300}"
"""ARN of a resource group; names that Resource Groups generates end in a slash and 26 characters."""

LUSTRE_MOUNT_NAME: Final = "[A-Za-z0-9_-]{1,8}"
"""Mount name of a file system."""

PLACEMENT_GROUP: Final = r"[!-~](?:[ -~]{0,253}[!-~])?"
"""Name of a placement group: up to 255 ASCII characters, without spaces at the ends."""

SNS_TOPIC_ARN: Final = "arn:aws[a-z-]*:sns:[a-z0-9-]+:[0-9]{12}:[A-Za-z0-9_-]{1,256}"
"""ARN of an SNS topic."""

SOURCE_NAME: Final = "[a-z][a-z0-9-]{1,31}"
"""Name of a capacity source or a queue, which becomes part of construct IDs."""

ZONE_ID: Final = "[a-z]+[0-9]+(?:-[a-z]+[0-9]+)?-az[0-9]+"
"""Zone ID such as ``use2-az3``, or ``use1-atl2-az1`` for a Local Zone; the first part names the Region."""
