"""What an exception of boto3 means: did the request execute, did it not, or can nobody say.

When in doubt, nobody can say. That costs a look at EC2; the opposite doubt costs a second Capacity Block.
"""

from dataclasses import replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final

from botocore.exceptions import (
    ClientError,
    NoCredentialsError,
    NoRegionError,
    ParamValidationError,
    PartialCredentialsError,
)

from ultracluster_runtime.purchasing.effects import (
    ConditionFailed,
    DryRunPassed,
    OutcomeUnknown,
    ReadFailed,
    Refused,
)

__all__ = [
    "CAPACITY_BLOCK_LIMIT",
    "REFUSED_BEFORE_EXECUTION",
    "classify_dry_run_error",
    "classify_read_error",
    "classify_send_error",
    "classify_transaction_error",
    "is_zero_quota",
    "server_time",
]

CAPACITY_BLOCK_LIMIT: Final = "CapacityBlockDescribeLimitExceeded"
"""The code of a search that AWS limits: for want of quota, or because there were too many in a short time."""

REFUSED_BEFORE_EXECUTION: Final = frozenset(
    {
        # Common errors of the EC2 API Reference that the service answers before it executes anything.
        "AccessDenied",
        "AuthFailure",
        "Blocked",
        "ExpiredToken",
        "ExpiredTokenException",
        "InvalidAction",
        "InvalidClientTokenId",
        "InvalidParameter",
        "InvalidParameterCombination",
        "InvalidParameterValue",
        "MalformedQueryString",
        "MissingAuthenticationToken",
        "MissingParameter",
        "OptInRequired",
        "PendingVerification",
        "RequestExpired",
        "SignatureDoesNotMatch",
        "UnauthorizedOperation",
        "UnknownParameter",
        "UnrecognizedClientException",
        "UnsupportedOperation",
        "ValidationError",
    }
)
"""Codes of 4xx answers after which nothing can have been bought. Any other code leaves the outcome open."""

_NEVER_LEFT: Final = (ParamValidationError, NoCredentialsError, PartialCredentialsError, NoRegionError)
_CLIENT_ERRORS: Final = range(400, 500)
# Worth asking again. CapacityBlockDescribeLimitExceeded is in none of botocore's lists of throttling codes.
_THROTTLED: Final = frozenset(
    {
        CAPACITY_BLOCK_LIMIT,
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "RequestThrottled",
        "RequestThrottledException",
        "ThrottledException",
        "Throttling",
        "ThrottlingException",
        "TransactionInProgressException",
    }
)


def _code(error: ClientError) -> str:
    return str(error.response.get("Error", {}).get("Code", ""))


def _message(error: Exception) -> str:
    if isinstance(error, ClientError):
        return str(error.response.get("Error", {}).get("Message", "")) or str(error)
    return f"{type(error).__name__}: {error}"


def _status(error: ClientError) -> int:
    return int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))


def server_time(response: dict[str, Any]) -> datetime | None:
    """AWS's clock from the Date header of an answer; None if it sent none that can be read."""
    header = response.get("ResponseMetadata", {}).get("HTTPHeaders", {}).get("date")
    if not header:
        return None
    try:
        return parsedate_to_datetime(header).astimezone(UTC)
    except ValueError:
        return None


def classify_send_error(error: Exception) -> Refused | OutcomeUnknown:
    """What is known after a purchase request ended in an exception."""
    if isinstance(error, _NEVER_LEFT):
        return Refused(type(error).__name__, _message(error))
    refused = (
        isinstance(error, ClientError)
        and _status(error) in _CLIENT_ERRORS
        and _code(error) in REFUSED_BEFORE_EXECUTION
    )
    if refused and isinstance(error, ClientError):
        return Refused(_code(error), _message(error))
    return OutcomeUnknown(_message(error))


def classify_dry_run_error(error: Exception) -> DryRunPassed | Refused:
    """Whether a dry run passed: it says so by the error DryRunOperation, and by nothing else."""
    if isinstance(error, ClientError):
        if _code(error) == "DryRunOperation":
            return DryRunPassed(server_time(error.response))
        return Refused(_code(error), _message(error))
    return Refused(type(error).__name__, _message(error))


def is_zero_quota(response: ReadFailed) -> bool:
    """Whether a search failed because the account has no quota: the same code also stands for a rate limit."""
    # AWS's words: "existing service limits ... not sufficient to use EC2 Capacity Blocks" (seen in accounts, 2026).
    return response.code == CAPACITY_BLOCK_LIMIT and "not sufficient" in response.message.lower()


def classify_read_error(error: Exception) -> ReadFailed:
    """Why a read gave no answer, and whether asking again may help."""
    if not isinstance(error, ClientError):
        transient = not isinstance(error, _NEVER_LEFT)
        return ReadFailed(code=type(error).__name__, message=_message(error), transient=transient)
    code = _code(error)
    transient = code in _THROTTLED or _status(error) not in _CLIENT_ERRORS
    response = ReadFailed(code=code, message=_message(error), transient=transient)
    return replace(response, transient=False) if is_zero_quota(response) else response


def classify_transaction_error(error: Exception, conditions: tuple[str | None, ...]) -> ConditionFailed | OutcomeUnknown:
    """What is known after a DynamoDB transaction ended in an exception.

    Args:
        error: The exception.
        conditions: For each item of the transaction what its condition stands for; None without one.
    """
    if isinstance(error, ClientError) and _code(error) == "TransactionCanceledException":
        reasons = error.response.get("CancellationReasons", [])
        failed = frozenset(
            meaning
            for reason, meaning in zip(reasons, conditions, strict=False)
            if reason.get("Code") == "ConditionalCheckFailed" and meaning
        )
        if failed:
            return ConditionFailed(failed)
    return OutcomeUnknown(_message(error))
