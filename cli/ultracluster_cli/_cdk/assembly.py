"""Read the stacks of a cloud assembly by cluster."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ultracluster_rules.untrusted_files import read_untrusted_json


@dataclass(frozen=True, kw_only=True, slots=True)
class AssemblyStack:
    """A stack to deploy.

    Attributes:
        cluster: Name of its stage, such as ``training-a-us-east-2``.
    """

    cluster: str
    name: str
    region: str


def read_assembly(directory: Path) -> list[AssemblyStack]:
    """Return the stacks of all stages under `directory`, in the order of the manifests.

    Raises:
        OSError: If the directory is not a cloud assembly.
    """
    return [
        AssemblyStack(
            cluster=stage["properties"].get("displayName", stage["properties"]["directoryName"]),
            name=stack["properties"].get("stackName", stack_id),
            region=stack["environment"].rpartition("/")[2],  # format: aws://ACCOUNT/REGION
        )
        for _, stage in artifacts(directory, kind="cdk:cloud-assembly")
        for stack_id, stack in artifacts(
            directory / stage["properties"]["directoryName"], kind="aws:cloudformation:stack"
        )
    ]


def inside(directory: Path, name: str) -> Path:
    """Resolve a path from an assembly.

    Raises:
        ValueError: If the path is outside of the folder.
    """
    path = directory / name
    if path.resolve().is_relative_to(directory.resolve()):
        return path
    raise ValueError(f"{name[:80]!a} is outside of its folder")


def artifacts(directory: Path, *, kind: str) -> Iterator[tuple[str, Any]]:
    """Return the artifacts of one kind by name, excluding those of stages.

    Raises:
        OSError: If the directory is not a cloud assembly.
    """
    manifest = read_untrusted_json(directory / "manifest.json")
    return ((name, artifact) for name, artifact in manifest["artifacts"].items() if artifact["type"] == kind)
