"""The exit codes of the command line; each has one meaning in every command."""

from collections.abc import Iterable
from enum import IntEnum
from typing import Final, Self

from ultracluster_spec.findings import Finding


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
    FAILED = 4, "A check or a step failed, in the account, in files or streams, or because of a bug (UC9015)."
    UNKNOWN = 5, "The outcome is unknown; running the command again is safe."
    NOT_RUNNING = 6, "No local AWS is running."
    INTERRUPTED = 130, "Interrupted with Ctrl-C."


_OWN_EXIT_CODES: Final = (
    dict.fromkeys(("UC7036", "UC7037"), ExitCode.UNKNOWN)
    | dict.fromkeys(
        ("UC7051", "UC7054", "UC9006", "UC9007", "UC9013", "UC9014", "UC9015", "UC9018", "UC9703"),
        ExitCode.FAILED,
    )
    | {"UC9206": ExitCode.NOT_RUNNING}
)
"""Codes of what is no fault of the input."""


def exit_code_of(findings: Iterable[Finding]) -> int:
    """Return the exit code for findings: that of the first of a code of its own, else 2."""
    own = (_OWN_EXIT_CODES[finding.code] for finding in findings if finding.code in _OWN_EXIT_CODES)
    return next(own, ExitCode.FINDINGS)
