"""Errors of the local AWS itself, as opposed to the AWS errors that its services return."""

from typing import Any

__all__ = ["LocalAwsError", "no_answer", "quote"]

_QUOTE_LIMIT = 76


class LocalAwsError(Exception):
    """The local AWS cannot start, answer or deploy.

    Attributes:
        code: Stable code to search for, such as ``UC8003``.
        problem: What is wrong, including the value received.
        allowed: Values that would be accepted; may be empty.
        remedy: What to do; may be empty.
    """

    def __init__(self, code: str, problem: str, *, allowed: str = "", remedy: str = "") -> None:
        super().__init__(code, problem)
        self.code = code
        self.problem = problem
        self.allowed = allowed
        self.remedy = remedy

    def __str__(self) -> str:
        sentences = (self.problem, f"Allowed: {self.allowed}" if self.allowed else "", self.remedy)
        return f"{self.code}: " + " ".join(f"{text.rstrip('.')}." for text in sentences if text)


def no_answer(problem: str, *, remedy: str = "") -> LocalAwsError:
    """Return the error (UC8006) because the local AWS does not run, answer or accept a request."""
    return LocalAwsError("UC8006", problem, remedy=remedy)


def quote(value: Any) -> str:
    """Return the `repr` of a user's value, limited to ASCII and 76 characters."""
    text = ascii(value)
    return text if len(text) <= _QUOTE_LIMIT else text[: _QUOTE_LIMIT - 3] + "..."
