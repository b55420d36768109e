"""Limits of AWS Batch job queues: compute environments, priority, shares and limits on waiting jobs.

Source: API Reference of AWS Batch as in botocore 1.44.5, and the CloudFormation schema of AWS::Batch::JobQueue, both
read 2026-11-21.
"""

from collections.abc import Mapping
from typing import Final

MOST_ENVIRONMENTS: Final = 3
"""Maximum number of compute environments of a queue."""

MOST_NODES: Final = 1000
"""Maximum number of nodes of a multi-node job (AWS Batch User Guide, read 2026-10), and so of one source of capacity."""

MOST_PRIORITY: Final = 1000
"""Highest priority of a queue; the lowest is 0."""

MOST_SHARES: Final = 500
"""Maximum number of share identifiers that are active in a queue."""

QUEUE_NAME_TAG: Final = "ultracluster:queue-name"
"""Tag with the name of an additional queue of a cluster; the default queue has none."""

ENVIRONMENT_TAG: Final = "ultracluster:compute-environment"
"""Tag of an Auto Scaling group with the ARN of the unmanaged compute environment that its nodes belong to."""

MOST_RESERVED_PERCENT: Final = 99
"""Highest percentage of compute that a queue reserves for share identifiers without jobs; the lowest is 0."""

MOST_PARTS: Final = 1000
"""Maximum number of parts of a share; the minimum is 1.

Our own limit: the weight factor is the inverse, for which AWS Batch accepts 0.0001 to 999.9999.
"""

SHARE_DECAY_SECONDS: Final = (600, 604_800)
"""Minimum and maximum time in seconds for which past usage of a share counts."""

WAIT_LIMIT_SECONDS: Final = (600, 86_400)
"""Minimum and maximum time in seconds after which a job that waits at the head of a queue is cancelled."""

WAIT_LIMIT_REASONS: Final[Mapping[str, str]] = {
    "insufficient_capacity": "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY",
    "exceeds_environments": "MISCONFIGURATION:COMPUTE_ENVIRONMENT_MAX_RESOURCE",
    "exceeds_nodes": "MISCONFIGURATION:JOB_RESOURCE_REQUIREMENT",
}
"""Reasons for which AWS Batch cancels a waiting job, by our names."""
