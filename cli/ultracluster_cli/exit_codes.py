"""The exit codes of the command line; each has one meaning in every command."""

from collections.abc import Iterable
from enum import IntEnum
from typing import Final, Self

from ultracluster_spec.findings import Finding, FindingsError


class ExitCode(IntEnum):
    """Exit codes of the command line, with the meanings that `ultracluster --help` and the documentation show."""

    meaning: str

    def __new__(cls, value: int, meaning: str) -> Self:
        """Create a member from its number and its meaning."""
        member = int.__new__(cls, value)
        member._value_ = value
        member.meaning = meaning
        return member

    DONE = 0, "Success."
    ABORTED = 1, "Aborted: a prompt was declined."
    FINDINGS = 2, "Findings (lines with UC… or error on stderr), or an invalid command line."
    STOPPED = 3, "The plan contains a dangerous change that was not allowed; nothing was changed."
    FAILED = 4, "A check or a step failed, in the account, in files or streams, or because of a bug."
    UNKNOWN = 5, "The outcome is unknown; running the command again is safe."
    NOT_RUNNING = 6, "No local AWS is running."
    INTERRUPTED = 130, "Interrupted with Ctrl-C."


_OWN_EXIT_CODES: Final = {
    "UC7036": ExitCode.UNKNOWN,
    "UC7037": ExitCode.UNKNOWN,
    "UC7051": ExitCode.FAILED,
    "UC7054": ExitCode.FAILED,
}
"""Codes of what is no fault of the input."""


class CommandError(FindingsError):
    """What a command could not do, through no fault of its input."""

    exit_code = ExitCode.FAILED


class NotRunningError(CommandError):
    """A command for the local AWS finds none that runs."""

    exit_code = ExitCode.NOT_RUNNING


def exit_code_of(findings: Iterable[Finding]) -> int:
    """Return the exit code for findings: that of the first of a code of its own, else 2."""
    own = (_OWN_EXIT_CODES[finding.code] for finding in findings if finding.code in _OWN_EXIT_CODES)
    return next(own, ExitCode.FINDINGS)
