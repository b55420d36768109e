"""The parts of clusters that were synthesized before, by what they follow from."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path
from typing import Any

from ultracluster_stacks.synthesis.assembly.parts import Files, Part
from ultracluster_stacks.synthesis.assembly.store import EntryStore

__all__ = ["AssemblyCache"]


class AssemblyCache:
    """Parts of assemblies by the configuration of their cluster; assets, which many share, once."""

    def __init__(self, directory: Path, *, fingerprint: str) -> None:
        """Open it.

        Args:
            directory: Where it is kept. It can be removed at any time.
            fingerprint: What acts on every cluster; see `synthesis_fingerprint`.
        """
        self._store = EntryStore(directory)
        self._fingerprint = fingerprint
        self._assets: dict[str, Files] = {}

    def get(self, config: str) -> Part | None:
        """Return the part of a cluster, or None if it is not known, with everything it needs.

        Args:
            config: The cluster with all defaults resolved, as JSON.
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
        """Keep parts, if there is room.

        One that validation had something to say about is not kept, so that it is said again the next time.

        Args:
            parts: Each with the configuration of its cluster.
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

    def _read(self, kind: str, what: str) -> Any:
        found = self._store.get(self._key(kind, what))
        return None if found is None else json.loads(found)

    def _write(self, kind: str, what: str, value: Any) -> None:
        self._store.put(self._key(kind, what), json.dumps(value))

    def _key(self, kind: str, what: str) -> str:
        return hashlib.sha256(f"{self._fingerprint}\n{kind}\n{what}".encode()).hexdigest()
