"""Reading files that somebody gave, whatever they are: never waiting, never more than is good, never deeper than Python goes."""

import json
import os
import stat
from collections.abc import Sequence
from typing import Any, Final

__all__ = [
    "LARGEST_JSON_FILE",
    "NotRegularError",
    "TooLargeError",
    "parse_untrusted_json",
    "read_untrusted_file",
    "read_untrusted_json",
]

LARGEST_JSON_FILE: Final = 64 * 1024 * 1024
"""The largest file of JSON that is read: a year of a cluster's metrics takes 40 MB."""


class NotRegularError(ValueError):
    """A path leads to something that is no regular file."""


class TooLargeError(ValueError):
    """A file is larger than what is read."""


def read_untrusted_file(path: str | os.PathLike[str], *, most_bytes: int) -> bytes:
    """Read a file.

    Args:
        path: A regular file, or a link to one.
        most_bytes: Its largest size.

    Raises:
        OSError: It cannot be opened or read.
        NotRegularError: It is a device, a named pipe, a folder or something else that is no regular file.
        TooLargeError: It is larger.
    """
    # O_NONBLOCK, so that a named pipe without a writer is refused rather than waited for.
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise NotRegularError("it is no regular file")
        content = file.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise TooLargeError(f"it is larger than {most_bytes:,} bytes")
    return content


def read_untrusted_json(path: str | os.PathLike[str], *, most_bytes: int = LARGEST_JSON_FILE) -> Any:
    """Read a file of JSON in UTF-8.

    Args:
        path: A regular file, or a link to one.
        most_bytes: Its largest size. Default: 64 MiB.

    Raises:
        OSError: It cannot be opened or read.
        ValueError: What `read_untrusted_file` and `parse_untrusted_json` refuse.
    """
    return parse_untrusted_json(read_untrusted_file(path, most_bytes=most_bytes))


def parse_untrusted_json(text: str | bytes) -> Any:
    """Parse JSON as its specification says: no NaN, no infinity, and each key of an object once.

    Args:
        text: The text; bytes are UTF-8, with or without a byte order mark.

    Raises:
        ValueError: It is something else, or nested so deeply that Python gives up.
    """
    if isinstance(text, bytes):
        text = text.decode("utf-8-sig")
    try:
        return json.loads(text, parse_constant=_refuse, object_pairs_hook=_once)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no number")


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {twice[:80]!a} stands twice")
    return found
