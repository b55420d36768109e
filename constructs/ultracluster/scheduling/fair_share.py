"""How a queue divides its nodes among those who submit jobs."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from aws_cdk import Duration
from aws_cdk import aws_batch as batch

from ultracluster_catalog.limits.queues import MOST_RESERVED_PERCENT, MOST_SHARES, SHARE_DECAY_SECONDS
from ultracluster_catalog.names.submission_tags import DEFAULT_SHARE
from ultracluster_rules.findings import Finding, FindingsError, quote
from ultracluster_rules.numbers import reject_unsafe_numbers
from ultracluster_rules.queues import check_shares

__all__ = ["FairShare"]

_WEIGHT_DIGITS = 4  # as many as AWS Batch keeps: the smallest weight is 0.0001


@dataclass(frozen=True, kw_only=True, slots=True)
class FairShare:
    """Fair-share scheduling: who has used less of what is due to them comes first.

    A share is the right to a part of the nodes, not a limit: what others leave is anybody's. AWS Batch has limits for
    shares (quota shares) on queues of SageMaker Training only; a limit in nodes is a queue with compute environments
    of its own.

    Attributes:
        parts: Parts of the nodes for each share identifier, 1 to 1000: one with 4 is due four times as much as one
            with 1. AWS Batch calls the inverse the weight factor. An identifier that ends in an asterisk stands for
            all that begin so. Identifiers that are not named have one part. Default: all the same.
        compute_reservation_percent: What is kept free for identifiers without jobs, 0 to 99: with 20, AWS Batch
            keeps 20% of the vCPUs while one identifier is active, and 4% (20% of 20%) with two. Default: nothing.
        decay: How long use is remembered, 10 minutes to a week. Default: a day.
    """

    parts: Mapping[str, int] = field(default_factory=dict)
    compute_reservation_percent: int = 0
    decay: Duration = field(default_factory=lambda: Duration.days(1))

    def __post_init__(self) -> None:
        reject_unsafe_numbers(self)
        findings = check_shares(self.parts, path="parts")
        percent = self.compute_reservation_percent
        if not 0 <= percent <= MOST_RESERVED_PERCENT:
            findings.append(
                Finding(
                    code="UC6304",
                    problem=f"got {quote(percent)} percent",
                    allowed=f"0 to {MOST_RESERVED_PERCENT}",
                    path="compute_reservation_percent",
                )
            )
        least, most = SHARE_DECAY_SECONDS
        if not least <= self.decay.to_seconds() <= most:
            findings.append(
                Finding(
                    code="UC6313",
                    problem=f"got {self.decay.to_human_string()}",
                    allowed="10 minutes to 7 days",
                    path="decay",
                )
            )
        if findings:
            raise FindingsError(findings)

    @property
    def policy(self) -> batch.CfnSchedulingPolicy.FairsharePolicyProperty:
        """The policy as AWS Batch takes it."""
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
        one == DEFAULT_SHARE or (one.endswith("*") and DEFAULT_SHARE.startswith(one[:-1])) for one in parts
    )
    return parts if named or len(parts) == MOST_SHARES else {**parts, DEFAULT_SHARE: 1}
