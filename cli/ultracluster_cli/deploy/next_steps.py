"""Print next steps after a deployment, on stderr."""

import shlex
from collections.abc import Sequence

from ultracluster_cli.deploy.cluster_state import Cluster
from ultracluster_cli.output import say

__all__ = ["print_next_steps"]

_FROM_LOCAL = """
This was the local AWS: no machine was started, and its reservation and AMI are fakes. On a real account:
  1. Buy a Capacity Block, or take one that you have: docs/capacity.md, from `ultracluster capacity find` on.
  2. Copy the rollout file and replace the values that it marks with REPLACE: the reservation of your Capacity Block and
     its zone id, the AMI and the image of the job.
  3. ultracluster validate YOUR-ROLLOUT.yaml
  4. Once for each account and Region: node_modules/.bin/cdk bootstrap aws://ACCOUNT/REGION
  5. ultracluster deploy YOUR-ROLLOUT.yaml
To look around in a local AWS that stays: ultracluster local up"""


def print_next_steps(clusters: Sequence[Cluster], *, local: bool) -> None:
    """Print what to do next.

    Args:
        clusters: What was deployed.
        local: Whether it was deployed to the local AWS.
    """
    if local:
        say(_FROM_LOCAL)
        return
    for cluster in clusters:
        cluster_name = cluster.name.removesuffix(f"-{cluster.region}")
        for job in cluster.job_definitions:
            # Not SubmitJob itself: it knows neither the jobs that come before, nor that the queue wants a share.
            command = ["ultracluster", "jobs", "submit", cluster_name, job.name, "--region", cluster.region]
            say(f"Start the job on {cluster.name}: {shlex.join(command)}")
