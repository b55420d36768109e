"""Read the text of a rollout file, with limits on type, size, encoding and invisible characters."""

import os
import re
from typing import Final

from ultracluster_spec.record import RuleRecord
from ultracluster_spec.untrusted_files import (
    NotRegularError,
    TooLargeError,
    read_untrusted_file,
    refuse_file,
)

HIDDEN_CHARACTER: Final = "UC1004"
"""Code of the rule about invisible characters."""

VISIBLE: Final = "visible characters, spaces and line ends"
"""Description of the allowed characters."""

LARGEST_FILE: Final = 256 * 1024
"""Maximum size of a rollout file in bytes; 90 clusters take about 60,000."""

# Control characters except tab, line feed and carriage return; line and paragraph separators; bidirectional and
# zero-width characters, which disguise text; lone surrogates.
_HIDDEN: Final = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\ufffe\uffff]"
)


def hidden_character(text: str) -> re.Match[str] | None:
    """Find the first invisible character."""
    return _HIDDEN.search(text)


def read_source_file(path: str | os.PathLike[str]) -> str:
    """Read the text of a file, without a byte order mark.

    Raises:
        FindingsError: The file cannot be read, is not a regular file, is too large, is not UTF-8, or has invisible
            characters.
    """
    try:
        content = read_untrusted_file(path, most_bytes=LARGEST_FILE)
    except OSError as error:
        raise refuse_file(path, "UC1001", f"the file cannot be read: {error.strerror}") from None
    except NotRegularError:
        raise refuse_file(path, "UC1001", "this is not a regular file", "a YAML rollout file") from None
    except TooLargeError:
        problem, allowed = "the file is larger than 256 KiB", "at most 262,144 bytes"
        raise refuse_file(path, "UC1002", problem, allowed) from None
    except ValueError as error:
        raise refuse_file(path, "UC1001", f"the path cannot be used: {error}") from None
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        problem = f"byte {error.start + 1} is not valid UTF-8"
        raise refuse_file(path, "UC1003", problem, "text in UTF-8", line=line) from None
    if hidden := hidden_character(text):
        line = text.count("\n", 0, hidden.start()) + 1
        column = hidden.start() - text.rfind("\n", 0, hidden.start())
        problem = f"invisible character U+{ord(hidden[0]):04X} in column {column}"
        raise refuse_file(path, HIDDEN_CHARACTER, problem, VISIBLE, line=line)
    return text


RECORDS: Final = (
    RuleRecord(
        "UC1001",
        "The rollout file is a regular file that can be read.",
        remedy="Specify the rollout file itself, and check that you have permission to read it.",
        source="Our decision: a pipe or a device could keep the reader waiting, or never end.",
    ),
    RuleRecord(
        "UC1002",
        "The rollout file has at most 256 KiB.",
        remedy="Put settings that clusters share under `defaults`, or split the rollout into several files.",
        source="Our decision: a reader of YAML must not be given endless input, and 90 clusters need far less.",
    ),
    RuleRecord(
        "UC1003",
        "The rollout file is UTF-8.",
        remedy="Save the file as UTF-8; the finding names the first byte that is not.",
        source="Our decision: one encoding, so that every tool reads the same names.",
    ),
    RuleRecord(
        "UC1004",
        "The rollout file has no control characters, bidirectional marks or lone surrogates.",
        remedy="Delete the character at the line and column of the finding, and type the word again; it usually came by copy and paste from a web page or a chat.",
        source="Unicode Technical Report 36: characters that are not shown make two different names look alike.",
        example="tags: {team: research}",
    ),
)
