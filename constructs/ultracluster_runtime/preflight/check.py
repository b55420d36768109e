"""Structure of a check: a query to AWS, and an evaluation of the result that makes no calls."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from types import ModuleType
from typing import Any, Final, Generic, Protocol, TypeVar

from ultracluster_runtime.preflight.reader import AwsReader
from ultracluster_runtime.preflight.subjects import Account
from ultracluster_spec.record import RuleRecord

CREDENTIALS: Final = "UC9401"  # code of the check that credentials are accepted
ACCOUNT: Final = "UC9402"  # code of the check that the credentials belong to the account of the rollout
ACCOUNT_IS_KNOWN: Final = (CREDENTIALS, ACCOUNT)
"""Checks that have to pass before answers are about the account of the rollout."""

REGION_IS_ENABLED: Final = "UC9404"
"""Code of the check that a Region is enabled; otherwise none of its services answers."""

BOOTSTRAPPED: Final = "UC9405"  # code of the check that the Region is bootstrapped for the AWS CDK
ZONE_IS_VISIBLE: Final = "UC9420"  # code of the check that the account can launch into a zone


class Status(StrEnum):
    """Outcome of a check."""

    PASS = "PASS"  # noqa: S105 - not a password
    WARN = "WARN"
    FAIL = "FAIL"
    SKIP = "SKIP"


@dataclass(frozen=True, slots=True)
class Outcome:
    """Outcome of a check with its evidence."""

    status: Status
    evidence: str  # what was observed, with figures
    remedy: str = ""  # what to do; empty if nothing


def passed(evidence: str) -> Outcome:
    """Return a passing outcome."""
    return Outcome(Status.PASS, evidence)


def warned(evidence: str, remedy: str) -> Outcome:
    """Return an outcome that works, or may work, and needs attention."""
    return Outcome(Status.WARN, evidence, remedy)


def failed(evidence: str, remedy: str) -> Outcome:
    """Return an outcome with which the deployment or the first job would fail or waste money."""
    return Outcome(Status.FAIL, evidence, remedy)


def skipped(evidence: str) -> Outcome:
    """Return an outcome for a check that does not apply, or cannot run yet."""
    return Outcome(Status.SKIP, evidence)


_GRAVITY = (Status.SKIP, Status.PASS, Status.WARN, Status.FAIL)


def worst(outcomes: Iterable[Outcome]) -> Outcome:
    """Combine outcomes: the most severe status, with the evidence of all outcomes that have it."""
    candidates = list(outcomes)
    status = max((outcome.status for outcome in candidates), key=_GRAVITY.index)
    worst_outcomes = [outcome for outcome in candidates if outcome.status is status]
    remedies = dict.fromkeys(outcome.remedy for outcome in worst_outcomes if outcome.remedy)
    return Outcome(status, "; ".join(outcome.evidence for outcome in worst_outcomes), ". ".join(remedies))


class Subject(Protocol):
    """Subject of a check."""

    @property
    def key(self) -> tuple[str, ...]:
        """Place of the subject: empty for the account, else Region, cluster, and the resource in it."""


SubjectT = TypeVar("SubjectT", bound=Subject)
ObservationsT = TypeVar("ObservationsT")


@dataclass(frozen=True, kw_only=True, slots=True)
class Check(Generic[SubjectT, ObservationsT]):
    """Check of one requirement."""

    code: str  # rule code; the summary of its record is the title of the check
    # Returns the subjects of an account; none if the check does not apply
    subjects: Callable[[Account], Iterable[SubjectT]]
    gather: Callable[[AwsReader, SubjectT], ObservationsT]  # reads what is needed from AWS
    # Evaluates the result of gather, without calls
    evaluate: Callable[[SubjectT, ObservationsT], Outcome]
    # Codes of checks that have to pass first, on the same subject or one that contains it: otherwise this
    # check could only fail for the same reason
    after: tuple[str, ...] = ()


def check(
    code: str,
    gather: Callable[[AwsReader, SubjectT], ObservationsT],
    *,
    subjects: Callable[[Account], Iterable[SubjectT]],
    after: tuple[str, ...] = (REGION_IS_ENABLED,),
) -> Callable[[Callable[[SubjectT, ObservationsT], Outcome]], Check[SubjectT, ObservationsT]]:
    """Make the function below a check, which evaluates what was gathered; for the arguments see `Check`."""
    return lambda evaluate: Check(code=code, subjects=subjects, gather=gather, evaluate=evaluate, after=after)


AnyCheck = Check[Any, Any]  # check of any subject
MakesCheck = Callable[[Callable[[Any, Any], Outcome]], AnyCheck]  # decorator of an evaluation


def checks_of(*modules: ModuleType) -> tuple[AnyCheck, ...]:
    """Return the checks that modules define, in their order."""
    return tuple(value for module in modules for value in vars(module).values() if isinstance(value, Check))


RECORDS: Final = (
    RuleRecord(
        "UC9401",
        "AWS accepts the credentials.",
        remedy="Sign in, such as with `aws sso login`, or set AWS_PROFILE.",
        source="botocore 1.44.5, STS GetCallerIdentity, 2026.",
    ),
    RuleRecord(
        "UC9402",
        "The clusters belong to the account of the credentials.",
        remedy="Run preflight once for each account, with its credentials or `profile` and --cluster.",
        source="Our decision: what is seen in one account says nothing about another.",
    ),
    RuleRecord(
        "UC9404",
        "The account may use the Region.",
        remedy="Enable it with `aws account enable-region`; that takes minutes to hours.",
        source="botocore 1.44.5, EC2 DescribeRegions, 2026.",
    ),
    RuleRecord(
        "UC9405",
        "The Region is bootstrapped for the CDK.",
        remedy="Run `cdk bootstrap aws://ACCOUNT/REGION`, with --qualifier if you use one.",
        source="AWS CDK developer guide, bootstrapping.",
    ),
    RuleRecord(
        "UC9420",
        "The account can launch into the zone.",
        remedy="Use the zone ID of the capacity, or opt in with the command in the finding.",
        source="botocore 1.44.5, EC2 DescribeAvailabilityZones, 2026.",
    ),
)
