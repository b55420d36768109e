"""Rules for the command of a job, and an encoding of words that a shell would change.

An image may have an ENTRYPOINT, which AWS Batch cannot replace. That of AWS's Neuron training images runs its arguments
through ``eval`` (aws-neuron/deep-learning-containers, common/start_with_right_hostname.sh, 2026-08), which splits and
expands them a second time. So a word that a shell could change is encoded, and the launcher on the node decodes it.
"""

import base64
import bz2
import re
from collections.abc import Sequence
from typing import Final

from ultracluster_spec.findings import Finding, quote
from ultracluster_spec.record import RuleRecord

_SAFE: Final = re.compile(r"(?!=|base64:|bz2:)[A-Za-z0-9@%_+=:,./-]+")
_LONG: Final = 512
# AWS Batch replaces it by a parameter of the submission (User Guide, job definition parameters, read 2026-11).
_PARAMETER: Final = re.compile(r"Ref::[A-Za-z0-9_-]+")


def encode_word(word: str) -> str:
    """Return a word for the launcher: encoded if a shell would change it."""
    if _SAFE.fullmatch(word):
        return word
    data = word.encode("utf-8", "surrogateescape")
    if len(data) < _LONG:
        return f"base64:{base64.b64encode(data).decode()}"
    # bzip2, because its output is the same in every build of Python.
    return f"bz2:{base64.b64encode(bz2.compress(data)).decode()}"


def check_parameters(command: Sequence[str], *, path: str) -> list[Finding]:
    """Check that AWS Batch finds its parameters in a command (UC6143)."""
    return [
        Finding(
            "UC6143",
            f"got {quote(found[0])} in a word that is encoded, so that AWS Batch would not replace it",
            allowed="a parameter in a word of letters, digits and @%_+=:,./-",
            remedy="Make it a separate word",
            path=f"{path}[{index}]",
        )
        for index, word in enumerate(command)
        if not _SAFE.fullmatch(word) and (found := _PARAMETER.search(word))
    ]


RECORDS: Final = (
    RuleRecord(
        "UC6143",
        "A parameter of AWS Batch stands in a word of a command that no shell changes.",
        remedy="Make the parameter a separate word, or combine it with letters, digits and @%_+=:,./- only.",
        source="AWS Batch user guide, job definition parameters, 2026-11; other words are encoded, since AWS's Neuron images evaluate their arguments (aws-neuron/deep-learning-containers, start_with_right_hostname.sh, 2026-08).",
    ),
)
