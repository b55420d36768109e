"""Classify boto3 exceptions: was the request executed, was it not, or is the outcome unknown.

In doubt the outcome is unknown. That costs a lookup in EC2; the opposite error costs a second Capacity Block.
"""

from collections.abc import Mapping
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

from ultracluster_runtime.functions.responses import UNREADABLE
from ultracluster_runtime.purchasing import effects


class UnreadableAnswerError(ValueError):
    """The response does not come from AWS."""


CAPACITY_BLOCK_LIMIT: Final = "CapacityBlockDescribeLimitExceeded"
"""Error code of a rate-limited search: because of a missing quota, or too many searches in a short time."""

UNREADABLE_ANSWER: Final = "UnreadableAnswer"  # code of a read whose response cannot be read
REFUSED_BEFORE_EXECUTION: Final = frozenset(
    {
        # Common errors of the EC2 API that the service returns before it executes a request:
        # https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html
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
"""Codes of 4xx errors after which nothing was bought. After any other code, the outcome is unknown."""

_NEVER_LEFT: Final = (ParamValidationError, NoCredentialsError, PartialCredentialsError, NoRegionError)
_CLIENT_ERRORS: Final = range(400, 500)
# Transient errors. botocore does not list CapacityBlockDescribeLimitExceeded as a throttling error.
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


def server_time(response: Mapping[str, Any]) -> datetime | None:
    """Return AWS's clock from the Date header of a response; None without a readable one."""
    header = response.get("ResponseMetadata", {}).get("HTTPHeaders", {}).get("date")
    if not header:
        return None
    try:
        return parsedate_to_datetime(header).astimezone(UTC)
    except (ValueError, TypeError, OverflowError):
        return None


def classify_send_error(error: Exception, *, sent: bool = True) -> effects.Refused | effects.OutcomeUnknown:
    """Classify an exception of a purchase request; `sent` if the request left this machine."""
    if not sent or isinstance(error, _NEVER_LEFT):
        return effects.Refused(type(error).__name__, _message(error), sent=False)
    refused = (
        isinstance(error, ClientError)
        and _status(error) in _CLIENT_ERRORS
        and _code(error) in REFUSED_BEFORE_EXECUTION
    )
    if refused and isinstance(error, ClientError):
        return effects.Refused(_code(error), _message(error))
    return effects.OutcomeUnknown(_message(error))


def classify_dry_run_error(error: Exception) -> effects.DryRunPassed | effects.Refused:
    """Classify an exception of a dry run: only DryRunOperation means that it passed."""
    if isinstance(error, ClientError):
        if _code(error) == "DryRunOperation":
            return effects.DryRunPassed(server_time(error.response))
        return effects.Refused(_code(error), _message(error))
    return effects.Refused(type(error).__name__, _message(error))


def is_zero_quota(response: effects.ReadFailed) -> bool:
    """Return whether a search failed because the quota is zero: the same code also means rate limiting."""
    # Message of AWS: "existing service limits ... not sufficient to use EC2 Capacity Blocks" (seen in 2026).
    return response.code == CAPACITY_BLOCK_LIMIT and "not sufficient" in response.message.lower()


def classify_read_error(error: Exception) -> effects.ReadFailed:
    """Classify an exception of a read, and whether a retry may help."""
    if isinstance(error, UNREADABLE):
        return effects.ReadFailed(code=UNREADABLE_ANSWER, message=_message(error), transient=True)
    if not isinstance(error, ClientError):
        transient = not isinstance(error, _NEVER_LEFT)
        return effects.ReadFailed(code=type(error).__name__, message=_message(error), transient=transient)
    code = _code(error)
    transient = code in _THROTTLED or _status(error) not in _CLIENT_ERRORS
    response = effects.ReadFailed(code=code, message=_message(error), transient=transient)
    return replace(response, transient=False) if is_zero_quota(response) else response


def classify_transaction_error(
    error: Exception, conditions: tuple[str | None, ...]
) -> effects.ConditionFailed | effects.OutcomeUnknown:
    """Classify an exception of a DynamoDB transaction by the meaning of the condition of each of its items."""
    if isinstance(error, ClientError) and _code(error) == "TransactionCanceledException":
        reasons = error.response.get("CancellationReasons", [])
        failed = frozenset(
            meaning
            for reason, meaning in zip(reasons, conditions, strict=False)
            if reason.get("Code") == "ConditionalCheckFailed" and meaning
        )
        if failed:
            return effects.ConditionFailed(failed)
    return effects.OutcomeUnknown(_message(error))
