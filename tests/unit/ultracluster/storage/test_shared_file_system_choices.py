"""Deployment type, sizes that the deployment knows, and the folder of checkpoints of a file system."""

from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_s3 as s3
from tests.unit.ultracluster.builders import only
from tests.unit.ultracluster.storage.file_systems import define_file_system

pytestmark = pytest.mark.slow

_SCRATCH: dict[str, Any] = {"deployment_type": "SCRATCH_2"}


def test_scratch_has_neither_throughput_nor_metadata_configuration(stack: cdk.Stack) -> None:
    lustre = define_file_system(stack, **_SCRATCH)["LustreConfiguration"]
    assert lustre == {"DeploymentType": "SCRATCH_2", "DataCompressionType": "LZ4"}


def test_numbers_that_only_the_deployment_knows_are_left_to_fsx(stack: cdk.Stack) -> None:
    size, iops = (cdk.CfnParameter(stack, name, type="Number") for name in ("Size", "Iops"))
    properties = define_file_system(
        stack, storage_capacity_gib=size.value_as_number, metadata_iops=iops.value_as_number
    )
    assert properties["StorageCapacity"] == {"Ref": "Size"}
    assert properties["LustreConfiguration"]["MetadataConfiguration"]["Iops"] == {"Ref": "Iops"}


@pytest.mark.parametrize(
    ("changes", "path"), [({}, "/checkpoints"), ({"checkpoint_path": "/runs/a"}, "/runs/a")]
)
def test_joins_the_bucket_with_the_folder_of_checkpoints(
    stack: cdk.Stack, changes: dict[str, str], path: str
) -> None:
    bucket = s3.Bucket.from_bucket_name(stack, "Theirs", "their-checkpoints")
    define_file_system(stack, checkpoint_bucket=bucket, **changes)
    association = only(stack, "AWS::FSx::DataRepositoryAssociation")
    assert (association["FileSystemPath"], association["DataRepositoryPath"]) == (
        path,
        "s3://their-checkpoints",
    )
