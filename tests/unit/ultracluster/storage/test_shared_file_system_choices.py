"""Deployment type, sizes that the deployment knows, and the folder of checkpoints of a file system."""

from typing import Any

import aws_cdk as cdk
import pytest
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
