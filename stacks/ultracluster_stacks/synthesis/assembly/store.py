"""A folder of entries that may be lost: each costs time to make again, and nothing else."""

import contextlib
import hashlib
import os
import tempfile
from pathlib import Path

__all__ = ["EntryStore"]

_DIGEST = 64


class EntryStore:
    """Entries by name, each one file that begins with a digest of the rest.

    Several processes may use it at one time: an entry is written beside its place and moved there whole. An entry
    that is damaged is removed and counts as missing; when the disk is full, nothing is kept.
    """

    def __init__(self, directory: Path, *, limit: int = 256 * 1024**2) -> None:
        """Open it; the folder is made when the first entry is kept.

        Args:
            directory: Where the entries are.
            limit: Most bytes of all entries together; those that were not used for longest go first.
                Default: 256 MiB, about a thousand clusters.
        """
        self._directory = directory
        self._limit = limit

    def get(self, key: str) -> str | None:
        """Return the content of an entry, or None if there is none that is whole.

        Args:
            key: Its name.
        """
        path = self._directory / key
        try:
            content = path.read_bytes()
        except OSError:
            return None
        digest, body = content[:_DIGEST], content[_DIGEST:]
        with contextlib.suppress(OSError):  # the folder may be read-only
            if digest != _digest(key, body):
                path.unlink(missing_ok=True)
            else:
                os.utime(path)
        return body.decode() if digest == _digest(key, body) else None

    def put(self, key: str, content: str) -> None:
        """Keep an entry, if there is room.

        Args:
            key: Its name.
            content: What to keep.
        """
        body = content.encode()
        temporary = None
        try:
            self._directory.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(dir=self._directory, prefix=".new-")
            with os.fdopen(handle, "wb") as file:
                file.write(_digest(key, body) + body)
            Path(temporary).replace(self._directory / key)
        except OSError:
            if temporary is not None:
                Path(temporary).unlink(missing_ok=True)

    def prune(self) -> None:
        """Remove the entries that were not used for longest, until all the others fit."""
        with contextlib.suppress(OSError):
            entries = sorted(
                ((path.stat().st_mtime_ns, path.stat().st_size, path) for path in self._directory.iterdir()),
                reverse=True,
            )
            total = 0
            for _, size, path in entries:
                total += size
                if total > self._limit:
                    path.unlink(missing_ok=True)


def _digest(key: str, body: bytes) -> bytes:
    return hashlib.sha256(key.encode() + body).hexdigest().encode()
