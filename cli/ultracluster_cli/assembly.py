"""Which stacks a cloud assembly holds, by cluster: read from cdk.out after the CDK CLI has written it."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["AssemblyStack", "artifacts", "read_assembly"]


@dataclass(frozen=True, kw_only=True, slots=True)
class AssemblyStack:
    """A stack to deploy.

    Attributes:
        cluster: Name of its stage, such as ``training-a-us-east-2``.
        name: Its name in CloudFormation.
        region: Its Region.
    """

    cluster: str
    name: str
    region: str


def read_assembly(directory: Path) -> list[AssemblyStack]:
    """Return the stacks of all stages under `directory`, in the order of the manifests.

    Args:
        directory: The cloud assembly, usually cdk.out.

    Raises:
        OSError: If there is no cloud assembly.
    """
    return [
        AssemblyStack(
            cluster=stage["properties"].get("displayName", stage["properties"]["directoryName"]),
            name=stack["properties"].get("stackName", stack_id),
            region=stack["environment"].rpartition("/")[2],  # aws://ACCOUNT/REGION
        )
        for _, stage in artifacts(directory, kind="cdk:cloud-assembly")
        for stack_id, stack in artifacts(
            directory / stage["properties"]["directoryName"], kind="aws:cloudformation:stack"
        )
    ]


def artifacts(directory: Path, *, kind: str) -> Iterator[tuple[str, Any]]:
    """Give the artifacts of one kind of an assembly, without its stages, by name.

    Args:
        directory: The cloud assembly, or the folder of a stage in one.
        kind: Such as ``aws:cloudformation:stack``.

    Raises:
        OSError: If there is no cloud assembly.
    """
    manifest = json.loads((directory / "manifest.json").read_text(encoding="utf-8"))
    return ((name, artifact) for name, artifact in manifest["artifacts"].items() if artifact["type"] == kind)
