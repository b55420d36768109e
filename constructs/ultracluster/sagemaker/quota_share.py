"""Quota shares of a queue for SageMaker training jobs, and validation of its arguments."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ultracluster_catalog.limits.sagemaker import (
    MOST_QUOTA_UNITS,
    SAGEMAKER_TRAINING_TYPES,
    TRAINING_PLAN_ARN,
    TRAINING_PLAN_TYPES,
)
from ultracluster_spec.arguments import validate_fields
from ultracluster_spec.findings import Finding, is_token, quote, require

_SHARE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")


@dataclass(frozen=True, kw_only=True, slots=True)
class QuotaShare:
    """Quota of one team in a `SageMakerTrainingQueue`.

    Attributes:
        name: Name that jobs specify, up to 128 letters, digits, hyphens and underscores.
        instances: Maximum number of instances by type at one time, without borrowed ones.
        sharing: ``RESERVE`` keeps idle instances, ``LEND`` lends them, ``LEND_AND_BORROW`` also borrows those of
            others. Jobs on borrowed instances are preempted when the owner needs them. Default: ``RESERVE``.
        borrow_limit_percent: Borrowing limit in percent of `instances`; -1 means unlimited. Only with
            ``LEND_AND_BORROW``. Default: unlimited.
        preempt_within: Whether jobs of higher priority preempt those of lower priority in the share. Default: False.
    """

    name: str
    instances: Mapping[str, int]
    sharing: Literal["RESERVE", "LEND", "LEND_AND_BORROW"] = "RESERVE"
    borrow_limit_percent: int | None = None
    preempt_within: bool = False

    def __post_init__(self) -> None:
        validate_fields(self)


def check_instances(instances: Mapping[str, int]) -> list[Finding]:
    """Check the maximum numbers of instances by type of a queue."""
    findings = [
        Finding("UC6334", f"got {quote(name)}", allowed=", ".join(SAGEMAKER_TRAINING_TYPES), path="instances")
        for name in instances
        if name not in SAGEMAKER_TRAINING_TYPES
    ]
    findings += require(
        1 <= len(instances) <= MOST_QUOTA_UNITS,
        "UC6335",
        f"got {len(instances)} instance types",
        allowed=f"1 to {MOST_QUOTA_UNITS}",
        path="instances",
    )
    findings += [
        Finding("UC6335", f"got {quote(number)} of {name}", allowed="1 or more", path=f"instances.{name}")
        for name, number in instances.items()
        if number < 1
    ]
    return findings


def check_shares(shares: Sequence[QuotaShare], instances: Mapping[str, int]) -> list[Finding]:
    """Check the quota shares of a queue."""

    def wrong(path: str, problem: str, allowed: str) -> Finding:
        return Finding("UC6336", problem, allowed=allowed, path=path)

    findings = []
    if not shares:
        findings.append(wrong("shares", "got none", "one or more; a job must name one"))
    names = [share.name for share in shares]
    for index, share in enumerate(shares):
        path = f"shares[{index}]"
        if not _SHARE_NAME.fullmatch(share.name):
            allowed = "up to 128 letters, digits, hyphens and underscores"
            findings.append(wrong(f"{path}.name", f"got {quote(share.name)}", allowed))
        if share.name in names[:index]:
            findings.append(wrong(f"{path}.name", f"got {quote(share.name)} twice", "each name once"))
        if not share.instances:
            findings.append(wrong(f"{path}.instances", "got none", "one instance type or more"))
        findings += [
            wrong(
                f"{path}.instances.{name}",
                f"got {quote(number)}",
                f"1 to {instances[name]}, what the queue has" if name in instances else "a type of the queue",
            )
            for name, number in share.instances.items()
            if not 1 <= number <= instances.get(name, 0)
        ]
        limit = share.borrow_limit_percent
        if limit is not None and (share.sharing != "LEND_AND_BORROW" or limit < -1):
            allowed = "-1 or more, with LEND_AND_BORROW"
            findings.append(wrong(f"{path}.borrow_limit_percent", f"got {quote(limit)}", allowed))
    return findings


def check_plan(arn: str | None, instances: Mapping[str, int], region: str) -> list[Finding]:
    """Check that a training plan, if any, fits a queue."""
    if arn is None or is_token(arn):
        return []
    match = re.fullmatch(TRAINING_PLAN_ARN, arn)
    if match is None or not (is_token(region) or match["region"] == region):
        where = "this Region" if is_token(region) else region
        return [
            Finding(
                "UC6337",
                f"got {quote(arn)}",
                allowed=f"the ARN of a training plan in {where}",
                path="training_plan_arn",
            )
        ]
    return [
        Finding(
            "UC6334",
            f"got {quote(name)} with a training plan",
            allowed=f"types that plans reserve: {', '.join(TRAINING_PLAN_TYPES)}",
            path="instances",
        )
        for name in instances
        if name in SAGEMAKER_TRAINING_TYPES and name not in TRAINING_PLAN_TYPES
    ]
