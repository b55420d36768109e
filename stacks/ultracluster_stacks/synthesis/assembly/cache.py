"""A cache of synthesized clusters, keyed by everything that determines them."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path
from typing import Any

from ultracluster_stacks.synthesis.assembly.parts import Files, Part
from ultracluster_stacks.synthesis.assembly.store import EntryStore


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
