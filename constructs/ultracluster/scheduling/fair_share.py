"""Fair-share scheduling of a queue."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from aws_cdk import Duration
from aws_cdk import aws_batch as batch

from ultracluster_catalog.limits.queues import MOST_SHARES
from ultracluster_catalog.names.submission_tags import DEFAULT_SHARE
from ultracluster_rules.findings import reject
from ultracluster_rules.numbers import reject_unsafe_numbers
from ultracluster_rules.queues import RESERVED_PERCENT, check_share_decay, check_shares

_WEIGHT_DIGITS = 4  # the precision of AWS Batch, whose smallest weight is 0.0001


@dataclass(frozen=True, kw_only=True, slots=True)
class FairShare:
    """Fair-share scheduling: jobs of the share identifier that has used the least of its share run first.

    A share is a right to a part of the nodes, not a limit: unused parts are available to others. AWS Batch supports limits
    (quota shares) only on queues for SageMaker Training; to limit nodes, use a queue with its own compute environments.

    Attributes:
        parts: Parts of the nodes by share identifier, 1 to 1000: with 4, an identifier gets four times as much as with 1.
            The weight factor of AWS Batch is the inverse. A trailing asterisk matches all identifiers with that prefix.
            Other identifiers have one part. Default: equal parts.
        compute_reservation_percent: Percentage to keep free for identifiers without jobs, 0 to 99: with 20, AWS Batch
            keeps 20 % of the vCPUs free while one identifier is active, and 4 % (20 % of 20 %) with two. Default: 0.
        decay: How long usage counts, 10 minutes to 7 days. Default: 1 day.
    """

    parts: Mapping[str, int] = field(default_factory=dict)
    compute_reservation_percent: int = 0
    decay: Duration = field(default_factory=lambda: Duration.days(1))

    def __post_init__(self) -> None:
        reject_unsafe_numbers(self)
        findings = check_shares(self.parts, path="parts")
        findings += RESERVED_PERCENT.check(
            self.compute_reservation_percent, path="compute_reservation_percent"
        )
        decay = self.decay
        findings += check_share_decay(decay.to_seconds(), shown=decay.to_human_string(), path="decay")
        reject(findings)

    @property
    def policy(self) -> batch.CfnSchedulingPolicy.FairsharePolicyProperty:
        """Scheduling policy for AWS Batch."""
        shares = [
            batch.CfnSchedulingPolicy.ShareAttributesProperty(
                share_identifier=identifier, weight_factor=round(1 / parts, _WEIGHT_DIGITS)
            )
            for identifier, parts in sorted(_with_default(self.parts).items())
        ]
        return batch.CfnSchedulingPolicy.FairsharePolicyProperty(
            share_decay_seconds=self.decay.to_seconds(),
            compute_reservation=self.compute_reservation_percent or None,
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
