"""Print next steps after a deployment, on stderr."""

import shlex
from collections.abc import Sequence

from ultracluster_cli.deploy.cluster_state import Cluster
from ultracluster_cli.output import say

__all__ = ["print_next_steps"]

_FROM_LOCAL = """
This was the local AWS: no instances were started, and the reservation and AMI are fake. To deploy to an account:
  1. Buy a Capacity Block (docs/capacity.md), or use one that you have.
  2. Copy the rollout file and replace the values marked REPLACE: reservation, zone ID, AMI and job image.
  3. ultracluster validate YOUR-ROLLOUT.yaml
  4. Once per account and Region: cdk bootstrap aws://ACCOUNT/REGION
  5. ultracluster deploy YOUR-ROLLOUT.yaml
For a local AWS that keeps running: ultracluster local up"""


def print_next_steps(clusters: Sequence[Cluster], *, local: bool) -> None:
    """Print what to do next.

    Args:
        clusters: Deployed clusters.
        local: Whether they are in the local AWS.
    """
    if local:
        say(_FROM_LOCAL)
        return
    for cluster in clusters:
        cluster_name = cluster.name.removesuffix(f"-{cluster.region}")
        for job in cluster.job_definitions:
            # Plain SubmitJob would skip dependencies and the share identifier.
            command = ["ultracluster", "jobs", "submit", cluster_name, job.name, "--region", cluster.region]
            say(f"To submit a job to {cluster.name}: {shlex.join(command)}")
