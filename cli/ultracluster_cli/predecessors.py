"""Commands and options that went, each with the one that does its work now."""

from collections.abc import Mapping, Sequence
from typing import Final

PREDECESSORS: Final[Mapping[str, str]] = {
    "advise": "cost advise",
    "check": "validate",
    "explain": "validate --explain",
    "rehearse": "deploy --without-capacity",
    "rules": "docs",
    "capacity find --picture": "capacity find --json",
    "plan --picture": "plan --markdown",
}
"""Successors by the words that begin a command line: commands, and at the end an option that may stand anywhere."""


def successor_note(arguments: Sequence[str]) -> str:
    """Return a line that names the successor of what a command line asks for; empty if nothing of it went."""
    for old, new in PREDECESSORS.items():
        *commands, last = old.split()
        if not last.startswith("--"):
            commands.append(last)
        given = arguments[len(commands) :]
        options = {argument.partition("=")[0] for argument in given}
        if list(arguments[: len(commands)]) == commands and (last in {commands[-1], *options}):
            return f"`ultracluster {old}` is gone; use `ultracluster {new}`."
    return ""
