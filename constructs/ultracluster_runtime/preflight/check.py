"""What a check is: a question to AWS, and a judgement over the answer that needs no AWS."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Generic, Protocol, TypeVar

from ultracluster_rules.registry import RULES
from ultracluster_runtime.preflight.reads import Reads
from ultracluster_runtime.preflight.requirements import RolloutNeeds

__all__ = [
    "ACCOUNT",
    "ACCOUNT_IS_KNOWN",
    "BOOTSTRAPPED",
    "CREDENTIALS",
    "REGION_IS_ENABLED",
    "AnyCheck",
    "Check",
    "Outcome",
    "Status",
    "Subject",
    "failed",
    "passed",
    "skipped",
    "warned",
    "worst",
]


CREDENTIALS: Final = "UC9401"
"""Code of the check that credentials are accepted."""

ACCOUNT: Final = "UC9402"
"""Code of the check that they belong to the account."""

ACCOUNT_IS_KNOWN: Final = (CREDENTIALS, ACCOUNT)
"""Checks without which no answer is about the account of the rollout."""

REGION_IS_ENABLED: Final = "UC9404"
"""Code of the check that a Region is enabled, without which none of its services answers."""

BOOTSTRAPPED: Final = "UC9405"
"""Code of the check of the CDK's bootstrap."""


class Status(StrEnum):
    """How a check ends."""

    PASS = "PASS"  # noqa: S105 - no password
    WARN = "WARN"
    FAIL = "FAIL"
    SKIP = "SKIP"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a check.

    Attributes:
        status: How it ended.
        evidence: What was seen, with figures.
        remedy: What to do; empty when there is nothing to do.
    """

    status: Status
    evidence: str
    remedy: str = ""


def passed(evidence: str) -> Outcome:
    """All is as it has to be."""
    return Outcome(Status.PASS, evidence)


def warned(evidence: str, remedy: str) -> Outcome:
    """It works, or may work, and somebody should look at it."""
    return Outcome(Status.WARN, evidence, remedy)


def failed(evidence: str, remedy: str) -> Outcome:
    """The deployment, or the first job, would fail or lose money."""
    return Outcome(Status.FAIL, evidence, remedy)


def skipped(evidence: str) -> Outcome:
    """There was nothing to look at, or it could not be looked at before something else is right."""
    return Outcome(Status.SKIP, evidence)


_GRAVITY = (Status.SKIP, Status.PASS, Status.WARN, Status.FAIL)


def worst(outcomes: Iterable[Outcome]) -> Outcome:
    """Put outcomes about several things together: the gravest status, and what was seen of those that have it."""
    all_of_them = list(outcomes)
    status = max((one.status for one in all_of_them), key=_GRAVITY.index)
    such = [one for one in all_of_them if one.status is status]
    remedies = dict.fromkeys(one.remedy for one in such if one.remedy)
    return Outcome(status, "; ".join(one.evidence for one in such), ". ".join(remedies))


class Subject(Protocol):
    """What a check is about."""

    @property
    def key(self) -> tuple[str, ...]:
        """Its place: nothing for the account, then the Region, the cluster, and the thing in it."""


NeedsT = TypeVar("NeedsT", bound=Subject)
FactsT = TypeVar("FactsT")


@dataclass(frozen=True, kw_only=True, slots=True)
class Check(Generic[NeedsT, FactsT]):
    """One check.

    Attributes:
        code: Its code of `ultracluster_rules.registry`, whose summary is what holds when it passes.
        calls: What it asks AWS, as the API spells it.
        subjects: What of a rollout it is about; nothing when the rollout has no such thing.
        gather: Asks AWS.
        judge: Judges what AWS answered, without asking anything.
        after: Codes of checks that have to pass before, on the same subject or one around it: otherwise this one
            could only fail for the same reason.
    """

    code: str
    calls: tuple[str, ...]
    subjects: Callable[[RolloutNeeds], Iterable[NeedsT]]
    gather: Callable[[Reads, NeedsT], FactsT]
    judge: Callable[[NeedsT, FactsT], Outcome]
    after: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """What holds when it passes."""
        return RULES[self.code].summary


AnyCheck = Check[Any, Any]
"""A check of any subject."""
