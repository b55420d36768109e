"""A file system, its key and its associations."""

from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_kms as kms
from tests.unit.ultracluster.builders import network, only

from ultracluster import DataRepositoryAssociation, SharedFileSystem

KEY_ARN = "arn:aws:kms:us-east-2:123456789012:key/01234567-89ab-cdef-0123-456789abcdef"


def define_file_system(stack: cdk.Stack, **changes: Any) -> dict[str, Any]:
    SharedFileSystem(stack, "FileSystem", network=network(stack), **changes)
    return only(stack, "AWS::FSx::FileSystem")


def key(stack: cdk.Stack) -> kms.IKey:
    return kms.Key.from_key_arn(stack, "Key", KEY_ARN)


def association(folder: str, path: str = "s3://corpora/c4/", **changes: Any) -> DataRepositoryAssociation:
    return DataRepositoryAssociation(file_system_path=folder, data_repository_path=path, **changes)
