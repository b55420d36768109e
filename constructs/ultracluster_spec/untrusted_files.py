"""Read untrusted files with limits on size, type and nesting."""

import json
import os
import stat
from collections.abc import Sequence
from typing import Any, Final

from ultracluster_spec.findings import FindingsError

LARGEST_JSON_FILE: Final = 64 * 1024 * 1024
"""Largest JSON file in bytes; a year of a cluster's metrics takes 40 MB."""


def display_name(path: str | os.PathLike[str]) -> str:
    """Format a path in ASCII, without control characters."""
    return ascii(os.fspath(path))[1:-1]


def refuse_file(
    path: str | os.PathLike[str], code: str, problem: str, allowed: str = "", *, line: int | None = None
) -> FindingsError:
    """Return the error with one finding about a file, or a line of it."""
    name = display_name(path)
    location = name if line is None else f"{name}:{line}"
    return FindingsError.of(code, problem, allowed=allowed, location=location)


class NotRegularError(ValueError):
    """A path does not refer to a regular file."""


class TooLargeError(ValueError):
    """A file exceeds the size limit."""


def read_untrusted_file(path: str | os.PathLike[str], *, most_bytes: int) -> bytes:
    """Read a regular file, or a link to one.

    Raises:
        OSError: If the file cannot be opened or read.
        NotRegularError: If it is a device, a named pipe, a directory or another special file.
        TooLargeError: If it is larger than `most_bytes`.
    """
    # O_NONBLOCK, so that a named pipe without a writer is refused rather than waited for.
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise NotRegularError("it is not a regular file")
        content = file.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise TooLargeError(f"it is larger than {most_bytes:,} bytes")
    return content


def read_untrusted_json(path: str | os.PathLike[str], *, most_bytes: int = LARGEST_JSON_FILE) -> Any:
    """Read a JSON file in UTF-8 of at most 64 MiB.

    Raises:
        OSError: If the file cannot be opened or read.
        ValueError: What `read_untrusted_file` and `parse_untrusted_json` reject.
    """
    return parse_untrusted_json(read_untrusted_file(path, most_bytes=most_bytes))


def parse_untrusted_json(text: str | bytes) -> Any:
    """Parse strict JSON, without NaN, infinity, duplicate keys or deep nesting; ValueError for other text."""
    if isinstance(text, bytes):
        text = text.decode("utf-8-sig")
    try:
        return json.loads(text, parse_constant=_reject_constant, object_pairs_hook=_reject_duplicates)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _reject_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number")


def _reject_duplicates(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"duplicate key {twice[:80]!a}")
    return mapping
