"""What a job definition says about its own submission, as tags that `ultracluster jobs submit` reads.

AWS Batch learns about dependencies, the size of a job array and the queue only when a job is submitted; no job
definition holds them. (API Reference of SubmitJob and AWS Batch User Guide, service quotas and array jobs, 2026-10.)
"""

from typing import Final

__all__ = ["AFTER_TAG", "ARRAY_SIZE_TAG", "MOST_ARRAY_JOBS", "MOST_DEPENDENCIES", "QUEUE_TAG"]

AFTER_TAG: Final = "ultracluster:after"
"""Names of the jobs that have to succeed before, with spaces between them."""

ARRAY_SIZE_TAG: Final = "ultracluster:array-size"
"""How many jobs the array has."""

QUEUE_TAG: Final = "ultracluster:queue"
"""ARN of the queue, when it is not the cluster's own."""

MOST_DEPENDENCIES: Final = 20
"""Jobs that one job can wait for."""

MOST_ARRAY_JOBS: Final = 10_000
"""Jobs of an array; the fewest are 2."""
