"""Fair-share scheduling of a queue."""

from collections.abc import Mapping

from aws_cdk import aws_batch as batch

from ultracluster_catalog.limits.queues import MOST_SHARES
from ultracluster_catalog.names.submission_tags import DEFAULT_SHARE
from ultracluster_spec.queue import Queue

_WEIGHT_DIGITS = 4  # the precision of AWS Batch, whose smallest weight is 0.0001
_DECAY_HOURS = 24


def fair_share_policy(queue: Queue) -> batch.CfnSchedulingPolicy.FairsharePolicyProperty | None:
    """Return the policy by which jobs of the share that has used the least of its part run first; None without shares.

    A share is a right to a part of the nodes, not a limit: unused parts are available to others. AWS Batch supports limits
    (quota shares) only on queues for SageMaker Training; to limit nodes, use a queue with its own compute environments.
    With AWS Batch's weights, the inverse of a part, 20 % of reserved compute keeps 20 % of the vCPUs free while one share is
    active, and 4 % (20 % of 20 %) with two.
    """
    # With a policy AWS Batch rejects jobs without a share and a priority (nextflow#3505), so there is none by default.
    if not queue.has_shares:
        return None
    shares = [
        batch.CfnSchedulingPolicy.ShareAttributesProperty(
            share_identifier=identifier, weight_factor=round(1 / parts, _WEIGHT_DIGITS)
        )
        for identifier, parts in sorted(_with_default(queue.shares).items())
    ]
    hours = _DECAY_HOURS if queue.share_decay_hours is None else queue.share_decay_hours
    return batch.CfnSchedulingPolicy.FairsharePolicyProperty(
        share_decay_seconds=hours * 3600,
        compute_reservation=queue.compute_reservation_percent or None,
        share_distribution=shares or None,
    )


def _with_default(parts: Mapping[str, int]) -> Mapping[str, int]:
    """Declare the share of jobs that name none: AWS Batch answered 500 to first jobs of an undeclared one (hyp3#802)."""
    named = any(
        identifier == DEFAULT_SHARE
        or (identifier.endswith("*") and DEFAULT_SHARE.startswith(identifier[:-1]))
        for identifier in parts
    )
    return parts if named or len(parts) == MOST_SHARES else {**parts, DEFAULT_SHARE: 1}
