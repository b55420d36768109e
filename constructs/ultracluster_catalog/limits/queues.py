"""What AWS Batch takes for a queue: its compute environments, priority, shares and limits on waiting jobs.

Source: API Reference of AWS Batch as in botocore 1.44.5, and the CloudFormation schema of AWS::Batch::JobQueue, both
read 2026-11-21.
"""

from collections.abc import Mapping
from typing import Final

__all__ = [
    "MOST_ENVIRONMENTS",
    "MOST_NODES",
    "MOST_PARTS",
    "MOST_PRIORITY",
    "MOST_RESERVED_PERCENT",
    "MOST_SHARES",
    "QUEUE_NAME_TAG",
    "SHARE_DECAY_SECONDS",
    "WAIT_LIMIT_REASONS",
    "WAIT_LIMIT_SECONDS",
]

MOST_ENVIRONMENTS: Final = 3
"""Compute environments of one queue."""

MOST_NODES: Final = 1000
"""Nodes of one multi-node job (AWS Batch User Guide, multi-node parallel jobs, read 2026-10), and so of one source of capacity."""

MOST_PRIORITY: Final = 1000
"""Priority of a queue, from 0."""

MOST_SHARES: Final = 500
"""Share identifiers that are active in a queue."""

QUEUE_NAME_TAG: Final = "ultracluster:queue-name"
"""Tag of the further queues of a cluster with their name; its own queue has none."""

MOST_RESERVED_PERCENT: Final = 99
"""What a queue can keep free for share identifiers without jobs, from 0."""

MOST_PARTS: Final = 1000
"""Parts of one share, from 1. A limit of ours: the weight factor is the inverse, and AWS Batch takes 0.0001 to 999.9999."""

SHARE_DECAY_SECONDS: Final = (600, 604_800)
"""How long the use of a share is remembered, least and most."""

WAIT_LIMIT_SECONDS: Final = (600, 86_400)
"""When a job that waits at the head of a queue is cancelled, least and most."""

WAIT_LIMIT_REASONS: Final[Mapping[str, str]] = {
    "insufficient_capacity": "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY",
    "exceeds_environments": "MISCONFIGURATION:COMPUTE_ENVIRONMENT_MAX_RESOURCE",
    "exceeds_nodes": "MISCONFIGURATION:JOB_RESOURCE_REQUIREMENT",
}
"""Our names of the reasons for which AWS Batch cancels a waiting job."""
