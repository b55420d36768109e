"""A cache of synthesized clusters, keyed by everything that determines them."""

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from ultracluster_spec.cluster import Cluster
from ultracluster_spec.values import plain
from ultracluster_stacks.synthesis.assembly.parts import Files, Part, merge_assembly

CACHE_DIRECTORY = Path(".ultracluster/cache/assemblies")
"""Directory of the cache, relative to the app."""

_DIGEST = 64


def configurations(clusters: Sequence[Cluster]) -> dict[str, str]:
    """Return the configuration of each cluster by its stage, as the cache knows it."""
    # No template contains the profile, so a cluster with another profile is still the same cluster.
    return {cluster.stage: json.dumps(plain(replace(cluster, profile=None))) for cluster in clusters}


def take_from_cache(directory: Path, clusters: Sequence[Cluster], *, cache: "AssemblyCache") -> bool:
    """Write the assembly that the app would write, if all clusters are in the cache; return whether they are."""
    configs = configurations(clusters)
    parts = [part for config in configs.values() if (part := cache.get(config))]
    if len(parts) < len(configs):
        return False
    directory.mkdir(parents=True, exist_ok=True)
    merge_assembly(directory, parts)
    return True


class AssemblyCache:
    """Parts of assemblies by the configuration of their cluster; shared assets are stored once."""

    def __init__(self, directory: Path, *, fingerprint: str) -> None:
        """Open a cache in a directory that can be deleted at any time; the fingerprint is `synthesis_fingerprint`."""
        self._store = EntryStore(directory)
        self._fingerprint = fingerprint
        self._assets: dict[str, Files] = {}

    def get(self, config: str) -> Part | None:
        """Return the part of a cluster with its assets, or None if any of it is missing.

        The configuration is JSON, with all defaults resolved.
        """
        values = self._read("cluster", config)
        if values is None:
            return None
        for name in values["assets"]:
            if name not in self._assets:
                files = self._read("asset", name)
                if files is None:
                    return None
                self._assets[name] = files
        return Part(**values | {"assets": {name: self._assets[name] for name in values["assets"]}})

    def put(self, parts: Iterable[tuple[str, Part]]) -> None:
        """Store parts, if there is room.

        Parts with validation messages are not stored, so that the messages are shown again.
        """
        written: set[str] = set()
        for config, part in parts:
            if not part.clean:
                continue
            for name in part.assets.keys() - written:
                self._write("asset", name, part.assets[name])
                written.add(name)
            values = {field.name: getattr(part, field.name) for field in fields(part)}
            self._write("cluster", config, values | {"assets": sorted(part.assets)})
        self._store.prune()

    def _read(self, kind: str, name: str) -> Any:
        content = self._store.get(self._key(kind, name))
        return None if content is None else json.loads(content)

    def _write(self, kind: str, name: str, value: Any) -> None:
        self._store.put(self._key(kind, name), json.dumps(value))

    def _key(self, kind: str, name: str) -> str:
        return hashlib.sha256(f"{self._fingerprint}\n{kind}\n{name}".encode()).hexdigest()


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
