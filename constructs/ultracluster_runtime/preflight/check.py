"""What a check is: a question to AWS, and a judgement over the answer that needs no AWS."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Generic, Protocol, TypeVar

from ultracluster_rules.rules import RULES
from ultracluster_runtime.preflight.reader import AwsReader
from ultracluster_runtime.preflight.requirements import RolloutRequirements

__all__ = [
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
    candidates = list(outcomes)
    status = max((outcome.status for outcome in candidates), key=_GRAVITY.index)
    worst_outcomes = [outcome for outcome in candidates if outcome.status is status]
    remedies = dict.fromkeys(outcome.remedy for outcome in worst_outcomes if outcome.remedy)
    return Outcome(status, "; ".join(outcome.evidence for outcome in worst_outcomes), ". ".join(remedies))


class Subject(Protocol):
    """What a check is about."""

    @property
    def key(self) -> tuple[str, ...]:
        """Its place: nothing for the account, then the Region, the cluster, and the thing in it."""


RequirementsT = TypeVar("RequirementsT", bound=Subject)
ObservationsT = TypeVar("ObservationsT")


@dataclass(frozen=True, kw_only=True, slots=True)
class Check(Generic[RequirementsT, ObservationsT]):
    """One check.

    Attributes:
        code: Its code of `ultracluster_rules.rules`, whose summary is what holds when it passes.
        calls: What it asks AWS, as the API spells it.
        subjects: What of a rollout it is about; nothing when the rollout has no such thing.
        gather: Asks AWS.
        judge: Judges what AWS answered, without asking anything.
        after: Codes of checks that have to pass before, on the same subject or one around it: otherwise this one
            could only fail for the same reason.
    """

    code: str
    calls: tuple[str, ...]
    subjects: Callable[[RolloutRequirements], Iterable[RequirementsT]]
    gather: Callable[[AwsReader, RequirementsT], ObservationsT]
    evaluate: Callable[[RequirementsT, ObservationsT], Outcome]
    after: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """What holds when it passes."""
        return RULES[self.code].summary


AnyCheck = Check[Any, Any]
"""A check of any subject."""
