"""A file system, its key and its associations."""

from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_kms as kms
from tests.unit.ultracluster.builders import network, only

from ultracluster import Association, FileSystem, SharedFileSystem

KEY_ARN = "arn:aws:kms:us-east-2:123456789012:key/01234567-89ab-cdef-0123-456789abcdef"


def define_file_system(stack: cdk.Stack, **changes: Any) -> dict[str, Any]:
    file_system(stack, **changes)
    return only(stack, "AWS::FSx::FileSystem")


def key(stack: cdk.Stack) -> kms.IKey:
    return kms.Key.from_key_arn(stack, "Key", KEY_ARN)


def association(folder: str, path: str = "s3://corpora/c4/", **changes: Any) -> Association:
    return Association(file_system_path=folder, data_repository_path=path, **changes)


def arguments(changes: dict[str, Any]) -> dict[str, Any]:
    """What is a field of `FileSystem` goes into `settings`."""
    fields = {name: value for name, value in changes.items() if name in FileSystem.__dataclass_fields__}
    others = {name: value for name, value in changes.items() if name not in fields}
    return {**others, "settings": FileSystem(**fields)}


def file_system(stack: cdk.Stack, **changes: Any) -> SharedFileSystem:
    return SharedFileSystem(stack, "FileSystem", network=network(stack), **arguments(changes))
