import json
from typing import Any

import aws_cdk as cdk
import botocore.session
import pytest
from aws_cdk import assertions
from botocore.validate import ParamValidator
from tests.cfn_lint import lint
from tests.unit.ultracluster.builders import REGION, of_type
from tests.unit.ultracluster.storage.file_systems import association, define_file_system

from ultracluster_local import LocalAws

pytestmark = pytest.mark.slow

_TIERED: dict[str, Any] = {"storage_type": "INTELLIGENT_TIERING", "read_cache": "NO_CACHE"}
_BACKUPS: dict[str, Any] = {"backup_retention_days": 7, "backup_start_time": "03:30"}
_EFA: dict[str, Any] = {"efa_clients": "p5.48xlarge", "storage_capacity_gib": 19_200}


def test_intelligent_tiering_has_no_size(stack: cdk.Stack) -> None:
    properties = define_file_system(stack, **_TIERED)
    assert properties["StorageType"] == "INTELLIGENT_TIERING"
    assert "StorageCapacity" not in properties
    assert properties["LustreConfiguration"] == {
        "DeploymentType": "PERSISTENT_2",
        "ThroughputCapacity": 4000,
        "DataReadCacheConfiguration": {"SizingMode": "NO_CACHE"},
        "DataCompressionType": "LZ4",
        "MetadataConfiguration": {"Mode": "USER_PROVISIONED", "Iops": 6000},
    }


def test_numbers_of_every_kind_may_be_left_to_the_deployment(stack: cdk.Stack) -> None:
    numbers = {
        name: cdk.CfnParameter(stack, "".join(part.title() for part in name.split("_")), type="Number").value_as_number
        for name in ("throughput_capacity", "read_cache_gib", "metadata_iops", "backup_retention_days")
    }  # fmt: skip
    lustre = define_file_system(stack, **_TIERED | {"read_cache": "USER_PROVISIONED"} | numbers)[
        "LustreConfiguration"
    ]
    assert lustre["ThroughputCapacity"] == {"Ref": "ThroughputCapacity"}
    assert lustre["DataReadCacheConfiguration"]["SizeGiB"] == {"Ref": "ReadCacheGib"}
    assert lustre["MetadataConfiguration"]["Iops"] == {"Ref": "MetadataIops"}
    assert lustre["AutomaticBackupRetentionDays"] == {"Ref": "BackupRetentionDays"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "chosen",
    [
        _TIERED | _BACKUPS,
        _TIERED | {"read_cache": "USER_PROVISIONED", "read_cache_gib": 1024, "throughput_capacity": 8000},
        _EFA,
        {"associations": [association("/c4"), association("/x", "s3://others", import_events=())]},
    ],
)
def test_is_a_request_of_fsx_and_is_deployed_read_back_and_destroyed(
    stack: cdk.Stack, chosen: dict[str, Any], local_aws: LocalAws
) -> None:
    properties = define_file_system(stack, removal_policy=cdk.RemovalPolicy.DESTROY, **chosen)
    service = botocore.session.get_session().get_service_model("fsx")
    request = properties | {"SubnetIds": ["subnet-01234567"], "SecurityGroupIds": ["sg-01234567"]}
    shape = service.operation_model("CreateFileSystem").input_shape
    assert not ParamValidator().validate(request, shape).has_errors()
    joined = [each["Properties"] for each in of_type(stack, "AWS::FSx::DataRepositoryAssociation")]
    shape = service.operation_model("CreateDataRepositoryAssociation").input_shape
    for each in joined:
        request = each | {"FileSystemId": "fs-0123456789abcdef0"}
        assert not ParamValidator().validate(request, shape).has_errors()

    template = json.dumps(assertions.Template.from_stack(stack).to_json())
    assert [str(match) for match in lint(template, regions=[REGION])] == []

    cloudformation = local_aws.client("cloudformation", REGION)
    cloudformation.create_stack(
        StackName="storage", TemplateBody=template, Capabilities=["CAPABILITY_NAMED_IAM"]
    )
    fsx = local_aws.client("fsx", REGION)
    (deployed,) = fsx.describe_file_systems()["FileSystems"]
    assert deployed["StorageType"] == properties.get("StorageType", "SSD")
    for name, value in properties["LustreConfiguration"].items():
        assert deployed["LustreConfiguration"][name] == value
    found = {
        each["FileSystemPath"]: each for each in fsx.describe_data_repository_associations()["Associations"]
    }
    assert set(found) == {each["FileSystemPath"] for each in joined}
    for each in joined:
        assert found[each["FileSystemPath"]]["S3"] == each["S3"]
        assert found[each["FileSystemPath"]]["DataRepositoryPath"] == each["DataRepositoryPath"]
    cloudformation.delete_stack(StackName="storage")
    assert fsx.describe_file_systems()["FileSystems"] == []
