"""Faults of each call of the purchase protocol, as the exceptions that boto3 raises."""

from collections.abc import Callable
from typing import Any

from botocore.exceptions import ClientError, ConnectionClosedError, ReadTimeoutError
from botocore.parsers import ResponseParserError

from ultracluster_runtime.purchasing import effects

READS = (
    effects.ReadRecord,
    effects.ReadOrders,
    effects.ReadClock,
    effects.GetCallerAccount,
    effects.DescribeOfferings,
    effects.DescribeReservations,
    effects.DescribeBlocks,
    effects.DescribeExtensionOfferings,
    effects.DescribeExtensionHistory,
)
LISTINGS = READS[4:]

# What can go wrong with a call. "-after" means that it executed nevertheless.
_ANY_FAULTS = ("lost-request", "500-before", "throttle", "die-before", "die-after")
_READ_FAULTS = (*_ANY_FAULTS, "parse-error-after", "refused-4xx")
_LISTING_FAULTS = (*_READ_FAULTS, "empty-page", "duplicate-items", "stale")
_WRITE_FAULTS = (
    *_ANY_FAULTS,
    "lost-reply-after",
    "500-after",
    "late-after",
    "parse-error-after",
)
# The ledger's client retries, and something on the way may answer in the place of DynamoDB.
_LEDGER_FAULTS = (*_WRITE_FAULTS, "duplicate", "confirmed-unwritten")
_SEND_FAULTS = (
    *_WRITE_FAULTS,
    "refused-4xx",
    "refused-4xx-after",
    "unlisted-4xx-after",
    "lag",
    "double-ids",
)
_DRY_FAULTS = (*_ANY_FAULTS, "refused-4xx", "answers-normally")


def faults_of(effect: Any) -> tuple[str, ...]:
    """The faults that can strike an effect."""
    if isinstance(effect, effects.Send):
        return _SEND_FAULTS
    if isinstance(effect, effects.DryRun):
        return _DRY_FAULTS
    if isinstance(effect, effects.Advance):
        return _LEDGER_FAULTS
    if isinstance(effect, effects.ReadRecord):
        return (*_READ_FAULTS, "no-table")
    if isinstance(effect, LISTINGS):
        return _LISTING_FAULTS
    return _READ_FAULTS if isinstance(effect, READS) else ()


ALL_FAULTS = frozenset({*_LISTING_FAULTS, *_LEDGER_FAULTS, *_SEND_FAULTS, *_DRY_FAULTS, "no-table"})


def client_error(code: str, status: int) -> ClientError:
    """An error answer of AWS."""
    return ClientError(
        {"Error": {"Code": code, "Message": "simulated"}, "ResponseMetadata": {"HTTPStatusCode": status}},
        "Simulated",
    )


EXCEPTIONS: dict[str, Callable[[], Exception]] = {
    "lost-request": lambda: ConnectionClosedError(endpoint_url="https://ec2"),
    "lost-reply-after": lambda: ConnectionClosedError(endpoint_url="https://ec2"),
    "500-before": lambda: client_error("InternalError", 500),
    "500-after": lambda: client_error("InternalError", 500),
    "throttle": lambda: client_error("RequestLimitExceeded", 503),
    "late-after": lambda: ReadTimeoutError(endpoint_url="https://ec2"),
    "parse-error-after": lambda: ResponseParserError("simulated"),
    "refused-4xx": lambda: client_error("UnauthorizedOperation", 403),
    "refused-4xx-after": lambda: client_error("UnauthorizedOperation", 403),
    "unlisted-4xx-after": lambda: client_error("SomethingNew", 400),
}
