"""A directory of cache entries, each of which can be lost at any time."""

import contextlib
import hashlib
import os
import tempfile
from pathlib import Path

_DIGEST = 64


class EntryStore:
    """Entries by name, each a file that begins with a digest of its content.

    Safe for concurrent processes: entries are written to a temporary file and renamed. A damaged entry is removed and
    counts as missing; when the disk is full, nothing is stored.
    """

    def __init__(self, directory: Path, *, limit: int = 256 * 1024**2) -> None:
        """Open a store; the directory is created with the first entry.

        Beyond the limit in bytes, the least recently used entries are removed. Default: about a thousand clusters.
        """
        self._directory = directory
        self._limit = limit

    def get(self, key: str) -> str | None:
        """Return the content of an entry, or None if it is missing or damaged."""
        path = self._directory / key
        try:
            content = path.read_bytes()
        except OSError:
            return None
        digest, body = content[:_DIGEST], content[_DIGEST:]
        with contextlib.suppress(OSError):  # the directory may be read-only
            if digest != _digest(key, body):
                path.unlink(missing_ok=True)
            else:
                os.utime(path)
        return body.decode() if digest == _digest(key, body) else None

    def put(self, key: str, content: str) -> None:
        """Store an entry, if there is room."""
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
        """Remove the least recently used entries beyond the limit."""
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
