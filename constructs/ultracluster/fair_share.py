"""How a queue divides its nodes among those who submit jobs."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations

from aws_cdk import Duration
from aws_cdk import aws_batch as batch

from ultracluster_catalog.findings import Finding, FindingsError, quote

__all__ = ["FairShare"]

# ShareAttributes and FairsharePolicy, API Reference of AWS Batch, botocore 1.44.5.
_IDENTIFIER = re.compile(r"[A-Za-z0-9]{1,255}\*?")
_MOST_SHARES = 500
_MOST_PARTS = 1000
_MOST_RESERVED_PERCENT = 99
_DECAY_SECONDS = (600, 7 * 24 * 3600)
_WEIGHT_DIGITS = 4  # the smallest weight is 0.0001


@dataclass(frozen=True, kw_only=True, slots=True)
class FairShare:
    """Fair-share scheduling: who has used less of what is due to them comes first.

    A share is the right to a part of the nodes, not a limit: what others leave is anybody's. A limit in nodes is a
    queue with compute environments of its own.

    Attributes:
        parts: Parts of the nodes for each share identifier: one with 4 is due four times as much as one with 1.
            AWS Batch calls the inverse the weight factor. An identifier that ends in an asterisk stands for all that
            begin so. Identifiers that are not named have one part. Default: all the same.
        compute_reservation_percent: What is kept free for identifiers without jobs, 0 to 99: with 20, AWS Batch
            keeps 20% of the vCPUs while one identifier is active, 20% of 20% with two. Default: nothing.
        decay: How long use is remembered, 10 minutes to a week. Default: a day.
    """

    parts: Mapping[str, int] = field(default_factory=dict)
    compute_reservation_percent: int = 0
    decay: Duration = field(default_factory=lambda: Duration.days(1))

    def __post_init__(self) -> None:
        findings = [*_check_identifiers(list(self.parts)), *self._check_numbers()]
        if findings:
            raise FindingsError(findings)

    def _check_numbers(self) -> list[Finding]:
        findings = [
            Finding(
                code="UC6302",
                problem=f"got {quote(parts)}",
                allowed=f"1 to {_MOST_PARTS:,}",
                path=f"parts.{identifier}",
            )
            for identifier, parts in self.parts.items()
            if not 1 <= parts <= _MOST_PARTS
        ]
        percent = self.compute_reservation_percent
        if not 0 <= percent <= _MOST_RESERVED_PERCENT:
            findings.append(
                Finding(
                    code="UC6304",
                    problem=f"got {quote(percent)} percent",
                    allowed=f"0 to {_MOST_RESERVED_PERCENT}",
                    path="compute_reservation_percent",
                )
            )
        least, most = _DECAY_SECONDS
        if not least <= self.decay.to_seconds() <= most:
            findings.append(
                Finding(
                    code="UC6313",
                    problem=f"got {self.decay.to_human_string()}",
                    allowed="10 minutes to 7 days",
                    path="decay",
                )
            )
        return findings

    @property
    def policy(self) -> batch.CfnSchedulingPolicy.FairsharePolicyProperty:
        """The policy as AWS Batch takes it."""
        return batch.CfnSchedulingPolicy.FairsharePolicyProperty(
            share_decay_seconds=self.decay.to_seconds(),
            compute_reservation=self.compute_reservation_percent or None,
            share_distribution=[
                batch.CfnSchedulingPolicy.ShareAttributesProperty(
                    share_identifier=identifier, weight_factor=round(1 / parts, _WEIGHT_DIGITS)
                )
                for identifier, parts in sorted(self.parts.items())
            ]
            or None,
        )


def _check_identifiers(identifiers: list[str]) -> list[Finding]:
    findings = [
        Finding(
            code="UC6301",
            problem=f"got {quote(identifier)}",
            allowed="1 to 255 letters and digits, and an asterisk at the end for all that begin so",
            path="parts",
        )
        for identifier in identifiers
        if not _IDENTIFIER.fullmatch(identifier)
    ]
    findings += [
        Finding(
            code="UC6303",
            problem=f"{quote(prefix)} stands for {quote(other)} too",
            remedy="Leave one of them out",
            path="parts",
        )
        for one, another in combinations(sorted(identifiers), 2)
        for prefix, other in ((one, another), (another, one))
        if prefix.endswith("*") and other.startswith(prefix[:-1])
    ]
    if len(identifiers) > _MOST_SHARES:
        findings.append(
            Finding(
                code="UC6303",
                problem=f"got {len(identifiers)} share identifiers",
                allowed=f"up to {_MOST_SHARES}",
                path="parts",
            )
        )
    return findings
