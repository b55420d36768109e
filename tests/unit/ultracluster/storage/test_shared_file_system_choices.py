"""Deployment type, metadata IOPS and key of a file system, judged by the models of botocore and by cfn-lint."""

import json
from typing import Any

import aws_cdk as cdk
import botocore.session
import pytest
from aws_cdk import assertions
from aws_cdk import aws_s3 as s3
from botocore.validate import ParamValidator
from tests.cfn_lint import lint
from tests.unit.ultracluster.builders import REGION, only
from tests.unit.ultracluster.storage.file_systems import define_file_system, key

from ultracluster_local import LocalAws

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


@pytest.mark.slow
@pytest.mark.parametrize(
    "throughput", [*(pytest.param(each, marks=pytest.mark.deep) for each in (125, 250, 500)), 1000, None]
)
def test_is_a_request_of_fsx_and_is_deployed_and_destroyed(
    stack: cdk.Stack, throughput: int | None, local_aws: LocalAws
) -> None:
    chosen = (
        _SCRATCH
        if throughput is None
        else {"per_unit_storage_throughput": throughput, "metadata_iops": 12_000, "kms_key": key(stack)}
    )
    properties = define_file_system(stack, removal_policy=cdk.RemovalPolicy.DESTROY, **chosen)
    request = properties | {"SubnetIds": ["subnet-01234567"], "SecurityGroupIds": ["sg-01234567"]}
    request["Tags"] = [{"Key": "team", "Value": "research"}]
    shape = botocore.session.get_session().get_service_model("fsx").operation_model("CreateFileSystem")
    assert not ParamValidator().validate(request, shape.input_shape).has_errors()

    template = json.dumps(assertions.Template.from_stack(stack).to_json())
    assert [str(match) for match in lint(template, regions=[REGION])] == []

    cloudformation = local_aws.client("cloudformation", REGION)
    cloudformation.create_stack(
        StackName="storage", TemplateBody=template, Capabilities=["CAPABILITY_NAMED_IAM"]
    )
    (deployed,) = local_aws.client("fsx", REGION).describe_file_systems()["FileSystems"]
    for name, value in properties["LustreConfiguration"].items():
        assert deployed["LustreConfiguration"][name] == value
    assert deployed.get("KmsKeyId") == properties.get("KmsKeyId")
    cloudformation.delete_stack(StackName="storage")
    assert local_aws.client("fsx", REGION).describe_file_systems()["FileSystems"] == []


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
