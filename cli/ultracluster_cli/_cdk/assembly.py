"""Read the artifacts of a cloud assembly."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ultracluster_rules.untrusted_files import read_untrusted_json


def inside(directory: Path, name: str) -> Path:
    """Resolve a path from an assembly; a path outside of the folder is a ValueError."""
    path = directory / name
    if path.resolve().is_relative_to(directory.resolve()):
        return path
    raise ValueError(f"{name[:80]!a} is outside its folder")


def artifacts(directory: Path, *, kind: str) -> Iterator[tuple[str, Any]]:
    """Return the artifacts of one kind by name, excluding those of stages.

    Raises:
        OSError: If the directory is not a cloud assembly.
    """
    manifest = read_untrusted_json(directory / "manifest.json")
    return ((name, artifact) for name, artifact in manifest["artifacts"].items() if artifact["type"] == kind)
