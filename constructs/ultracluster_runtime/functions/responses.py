"""Exceptions of AWS calls, among them those of responses that cannot be read."""

from typing import Final

from botocore.exceptions import BotoCoreError, ClientError
from botocore.parsers import ResponseParserError

UNREADABLE: Final = (ResponseParserError, LookupError, TypeError, AttributeError, ValueError, ArithmeticError)
"""A response that AWS does not send: HTML of a proxy, an empty body, truncated XML, a missing or malformed member."""

AWS_ERRORS: Final = (ClientError, BotoCoreError, *UNREADABLE)
"""Exceptions of a call whose response is an error, is missing or cannot be read."""


def problem_of(error: Exception) -> str:
    """Return an exception of `AWS_ERRORS` in words."""
    return (
        f"unreadable response: {type(error).__name__}: {error}"
        if isinstance(error, UNREADABLE)
        else str(error)
    )
