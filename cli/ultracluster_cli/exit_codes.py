"""The exit codes of the command line; each has one meaning in every command."""

from collections.abc import Iterable
from enum import IntEnum
from typing import Self

from ultracluster_rules.findings import Finding

__all__ = ["ExitCode", "exit_code_of"]


class ExitCode(IntEnum):
    """Exit codes of the command line.

    Attributes:
        meaning: What the code says, as `ultracluster --help` and docs/command-line.md print it.
    """

    meaning: str

    def __new__(cls, value: int, meaning: str) -> Self:
        """Create a member from its number and its meaning."""
        member = int.__new__(cls, value)
        member._value_ = value
        member.meaning = meaning
        return member

    DONE = 0, "The command did all it was asked to do."
    ABORTED = 1, "Aborted: a question was answered with no, or an unexpected error."
    FINDINGS = 2, "Findings (UC… lines on stderr), or a wrong command line."
    STOPPED = 3, "The plan contains a danger that was not allowed; nothing was changed."
    FAILED = 4, "A check or a step failed in the account: preflight, deploy, rollout."
    UNKNOWN = 5, "The answer or the outcome is not known; running the command again is safe."
    NOT_RUNNING = 6, "No local AWS is running."
    INTERRUPTED = 130, "Interrupted with Ctrl-C."


_MEANINGS = {
    "UC7036": ExitCode.UNKNOWN,  # a purchase was sent, and its outcome is not known
    "UC7037": ExitCode.UNKNOWN,
    "UC9006": ExitCode.FAILED,  # cdk deploy
    "UC9007": ExitCode.FAILED,  # reading back what was deployed
}


def exit_code_of(findings: Iterable[Finding]) -> ExitCode:
    """Return the exit code of a command that ends with findings.

    Args:
        findings: The findings, at least one.
    """
    return next(
        (_MEANINGS[finding.code] for finding in findings if finding.code in _MEANINGS), ExitCode.FINDINGS
    )
