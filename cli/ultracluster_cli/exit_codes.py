"""The exit codes of the command line; each has one meaning in every command."""

from collections.abc import Iterable
from enum import IntEnum
from typing import Self

from ultracluster_rules.findings import Finding

__all__ = ["ExitCode", "exit_code_of"]


class ExitCode(IntEnum):
    """Exit codes of the command line.

    Attributes:
        meaning: Description printed by `ultracluster --help` and docs/command-line.md.
    """

    meaning: str

    def __new__(cls, value: int, meaning: str) -> Self:
        """Create a member from its number and its meaning."""
        member = int.__new__(cls, value)
        member._value_ = value
        member.meaning = meaning
        return member

    DONE = 0, "Success."
    ABORTED = 1, "Aborted: a prompt was declined, or an unexpected error occurred."
    FINDINGS = 2, "Findings (UC… lines on stderr), or an invalid command line."
    STOPPED = 3, "The plan contains a dangerous change that was not allowed; nothing was changed."
    FAILED = 4, "A check or a step failed in the account: preflight, deploy, rollout."
    UNKNOWN = 5, "The outcome is unknown; running the command again is safe."
    NOT_RUNNING = 6, "No local AWS is running."
    INTERRUPTED = 130, "Interrupted with Ctrl-C."


_MEANINGS = {
    "UC7036": ExitCode.UNKNOWN,  # a purchase request was sent; its outcome is unknown
    "UC7037": ExitCode.UNKNOWN,
    "UC9006": ExitCode.FAILED,  # cdk deploy
    "UC9007": ExitCode.FAILED,  # read-back after a deployment
}


def exit_code_of(findings: Iterable[Finding]) -> ExitCode:
    """Return the exit code for findings.

    Args:
        findings: The findings, at least one.
    """
    return next(
        (_MEANINGS[finding.code] for finding in findings if finding.code in _MEANINGS), ExitCode.FINDINGS
    )
