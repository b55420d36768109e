"""The exit codes of the command line; each has one meaning in every command."""

from collections.abc import Iterable
from enum import IntEnum
from typing import Self

from ultracluster_rules.findings import Finding
from ultracluster_rules.registry import RULES


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
    FINDINGS = 2, "Findings (UC… lines on stderr), or an invalid command line."
    STOPPED = 3, "The plan contains a dangerous change that was not allowed; nothing was changed."
    FAILED = 4, "A check or a step failed, in the account, in files or streams, or because of a bug (UC9015)."
    UNKNOWN = 5, "The outcome is unknown; running the command again is safe."
    NOT_RUNNING = 6, "No local AWS is running."
    INTERRUPTED = 130, "Interrupted with Ctrl-C."


def exit_code_of(findings: Iterable[Finding]) -> int:
    """Return the exit code for findings: the first that its rule sets to another value than 2, else 2."""
    codes = (RULES[finding.code].exit_code for finding in findings)
    return next((code for code in codes if code != ExitCode.FINDINGS), ExitCode.FINDINGS)
