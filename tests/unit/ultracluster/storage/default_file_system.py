"""A file system with its defaults."""

from typing import Any

import aws_cdk as cdk
from tests.unit.ultracluster.builders import network

from ultracluster import FileSystem, SharedFileSystem


def arguments(changes: dict[str, Any]) -> dict[str, Any]:
    """What is a field of `FileSystem` goes into `settings`."""
    fields = {name: value for name, value in changes.items() if name in FileSystem.__dataclass_fields__}
    others = {name: value for name, value in changes.items() if name not in fields}
    return {**others, "settings": FileSystem(**fields)}


def file_system(stack: cdk.Stack, **changes: Any) -> SharedFileSystem:
    return SharedFileSystem(stack, "FileSystem", network=network(stack), **arguments(changes))
