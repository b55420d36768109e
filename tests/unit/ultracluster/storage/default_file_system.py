"""A file system with its defaults."""

import aws_cdk as cdk
from tests.unit.ultracluster.builders import network

from ultracluster import SharedFileSystem


def file_system(stack: cdk.Stack, **changes: object) -> SharedFileSystem:
    return SharedFileSystem(stack, "FileSystem", network=network(stack), **changes)
