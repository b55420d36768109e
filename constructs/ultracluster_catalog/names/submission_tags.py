"""Tags of job definitions that `ultracluster jobs submit` reads, and of jobs that are submitted again.

Dependencies, the size of a job array and the queue are parameters of SubmitJob; a job definition cannot hold them. (API Reference of SubmitJob and AWS Batch User Guide, service quotas and array jobs, 2026-10.)
"""

from typing import Final

DEFAULT_SHARE: Final = "default"
"""Share identifier of jobs that specify none; a fair-share queue rejects jobs without one."""

AFTER_TAG: Final = "ultracluster:after"
"""Names of the jobs that must succeed first, separated by spaces."""

ARRAY_SIZE_TAG: Final = "ultracluster:array-size"
"""Number of jobs in the array."""

QUEUE_TAG: Final = "ultracluster:queue"
"""ARN of the queue, if it is not the default queue of the cluster."""

RESUME_TAG: Final = "ultracluster:resume"
"""How often a job is submitted again after a drain or the loss of a node; of a definition, what its jobs start with."""

CODE_TAG: Final = "ultracluster:code"
"""SHA-256 of the code that `ultracluster run` uploaded for a job."""

COMMIT_TAG: Final = "ultracluster:commit"
"""Commit of that code, followed by ``-dirty`` if files differed from it."""

COMMAND_TAG: Final = "ultracluster:command"
"""Program of that code with its arguments, up to 256 characters."""

RESUME_OF_TAG: Final = "ultracluster:resume-of"
"""ID of the job that a job continues."""

ARRAY_NODES_VARIABLE: Final = "UC_ARRAY_NODES"
"""Environment variable of array children that are the nodes of one job: how many they are."""

MOST_DEPENDENCIES: Final = 20
"""Maximum number of dependencies of a job."""

MOST_ARRAY_JOBS: Final = 10_000
"""Maximum number of jobs in an array; the minimum is 2."""
