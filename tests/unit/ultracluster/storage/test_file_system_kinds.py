"""Intelligent-Tiering, EFA, backups, associations: judged by botocore's models and cfn-lint, deployed and read back."""

import json
from typing import Any

import aws_cdk as cdk
import botocore.session
import pytest
from aws_cdk import assertions
from aws_cdk import aws_s3 as s3
from botocore.validate import ParamValidator
from tests.cfn_lint import lint
from tests.unit.ultracluster.builders import REGION, network, of_type, only

from ultracluster import CheckpointBucket, DataRepositoryAssociation, DatasetBucket, SharedFileSystem
from ultracluster_local import LocalAws
from ultracluster_rules.findings import FindingsError

pytestmark = pytest.mark.synth

_TIERED: dict[str, Any] = {"storage_type": "INTELLIGENT_TIERING", "read_cache": "NO_CACHE"}
_BACKUPS: dict[str, Any] = {"backup_retention_days": 7, "backup_start_time": "03:30"}
_EFA: dict[str, Any] = {"efa_clients": "p5.48xlarge", "storage_capacity_gib": 19_200}


def define(stack: cdk.Stack, **changes: Any) -> dict[str, Any]:
    SharedFileSystem(stack, "FileSystem", network=network(stack), **changes)
    return only(stack, "AWS::FSx::FileSystem")


def codes(stack: cdk.Stack, **changes: Any) -> list[str]:
    with pytest.raises(FindingsError) as refused:
        define(stack, **changes)
    return [finding.code for finding in refused.value.findings]


def association(folder: str, path: str = "s3://corpora/c4/", **changes: Any) -> DataRepositoryAssociation:
    return DataRepositoryAssociation(file_system_path=folder, data_repository_path=path, **changes)


def test_intelligent_tiering_has_no_size(stack: cdk.Stack) -> None:
    properties = define(stack, **_TIERED)
    assert properties["StorageType"] == "INTELLIGENT_TIERING"
    assert "StorageCapacity" not in properties
    assert properties["LustreConfiguration"] == {
        "DeploymentType": "PERSISTENT_2",
        "ThroughputCapacity": 4000,
        "DataReadCacheConfiguration": {"SizingMode": "NO_CACHE"},
        "DataCompressionType": "LZ4",
        "MetadataConfiguration": {"Mode": "USER_PROVISIONED", "Iops": 6000},
    }


def test_a_read_cache_must_be_requested_explicitly(stack: cdk.Stack) -> None:
    assert codes(stack, storage_type="INTELLIGENT_TIERING") == ["UC5013"]


def test_intelligent_tiering_is_not_joined_with_checkpoints(stack: cdk.Stack) -> None:
    bucket = CheckpointBucket(stack, "Checkpoints").bucket
    assert codes(stack, **_TIERED, checkpoint_bucket=bucket) == ["UC5020"]


def test_numbers_of_every_kind_may_be_left_to_the_deployment(stack: cdk.Stack) -> None:
    numbers = {
        name: cdk.CfnParameter(stack, "".join(part.title() for part in name.split("_")), type="Number").value_as_number
        for name in ("throughput_capacity", "read_cache_gib", "metadata_iops", "backup_retention_days")
    }  # fmt: skip
    lustre = define(stack, **_TIERED | {"read_cache": "USER_PROVISIONED"} | numbers)["LustreConfiguration"]
    assert lustre["ThroughputCapacity"] == {"Ref": "ThroughputCapacity"}
    assert lustre["DataReadCacheConfiguration"]["SizeGiB"] == {"Ref": "ReadCacheGib"}
    assert lustre["MetadataConfiguration"]["Iops"] == {"Ref": "MetadataIops"}
    assert lustre["AutomaticBackupRetentionDays"] == {"Ref": "BackupRetentionDays"}


def test_backups_can_be_turned_on_later_without_replacing_the_file_system(stack: cdk.Stack) -> None:
    lustre = define(stack, **_BACKUPS)["LustreConfiguration"]
    assert lustre["AutomaticBackupRetentionDays"] == 7
    assert lustre["DailyAutomaticBackupStartTime"] == "03:30"
    assert "CopyTagsToBackups" not in lustre


def test_backups_get_the_tags_on_request(stack: cdk.Stack) -> None:
    assert define(stack, copy_tags_to_backups=True)["LustreConfiguration"]["CopyTagsToBackups"] is True


def test_a_file_system_linked_to_s3_has_no_backups(stack: cdk.Stack) -> None:
    bucket = CheckpointBucket(stack, "Checkpoints").bucket
    assert codes(stack, **_BACKUPS, checkpoint_bucket=bucket) == ["UC5014"]


def test_efa_opens_all_traffic_between_the_groups_and_asks_for_a_large_file_system(stack: cdk.Stack) -> None:
    system = SharedFileSystem(stack, "FileSystem", network=network(stack), **_EFA)
    assert system.efa_enabled
    nodes = stack.resolve(stack.node.find_child("Network").security_group.security_group_id)
    own = stack.resolve(system.connections.security_groups[0].security_group_id)
    assert only(stack, "AWS::FSx::FileSystem")["LustreConfiguration"]["EfaEnabled"] is True
    pairs = {(str(a), str(b)) for a, b in ((own, own), (nodes, own), (own, nodes))}
    for direction, source, target in (
        ("Ingress", "SourceSecurityGroupId", "GroupId"),
        ("Egress", "GroupId", "DestinationSecurityGroupId"),
    ):
        rules = [each["Properties"] for each in of_type(stack, f"AWS::EC2::SecurityGroup{direction}")]
        lustre = [each for each in rules if each["Description"] == "Lustre"]
        assert {each["IpProtocol"] for each in lustre} == {"-1"}
        assert len(lustre) == len(pairs)  # EC2 refuses a second rule that says the same
        assert not any("FromPort" in each for each in lustre)
        assert {(str(each[source]), str(each[target])) for each in lustre} == pairs


@pytest.mark.parametrize("instance_type", ["trn2.48xlarge", "trn2.3xlarge", "inf2.48xlarge"])
def test_efa_is_refused_for_clients_that_cannot_use_it(stack: cdk.Stack, instance_type: str) -> None:
    assert codes(stack, **_EFA | {"efa_clients": instance_type}) == ["UC5027"]


def test_efa_is_refused_on_a_small_file_system(stack: cdk.Stack) -> None:
    assert codes(stack, efa_clients="trn1.32xlarge") == ["UC5003"]


def test_without_efa_no_efa_property_is_set(stack: cdk.Stack) -> None:
    assert "EfaEnabled" not in define(stack)["LustreConfiguration"]


def test_joins_the_checkpoints_and_seven_more(stack: cdk.Stack) -> None:
    more = [association(f"/data/{index}", f"s3://corpora/{index}/") for index in range(7)]
    define(stack, checkpoint_bucket=CheckpointBucket(stack, "Checkpoints").bucket, associations=more)
    found = [each["Properties"] for each in of_type(stack, "AWS::FSx::DataRepositoryAssociation")]
    assert {each["FileSystemPath"] for each in found} == {
        "/checkpoints",
        *(f"/data/{index}" for index in range(7)),
    }


def test_the_place_of_an_association_in_the_list_is_not_its_name(stack: cdk.Stack) -> None:
    def named(stack: cdk.Stack, *folders: str) -> dict[str, str]:
        joined = [association(folder, f"s3://corpora{folder}") for folder in folders]
        define(stack, associations=joined)
        template = assertions.Template.from_stack(stack).find_resources("AWS::FSx::DataRepositoryAssociation")
        return {each["Properties"]["FileSystemPath"]: logical_id for logical_id, each in template.items()}

    other = cdk.Stack(cdk.App(), "Other", env=cdk.Environment(region=REGION))
    assert named(stack, "/a", "/b") == named(other, "/b", "/a")


def test_events_of_an_association_can_be_chosen(stack: cdk.Stack) -> None:
    joined = [
        association("/both", "s3://a", export_events=("NEW", "CHANGED", "DELETED")),
        association("/in", "s3://b", export_events=()),
        association("/link", "s3://c", import_events=(), export_events=(), import_existing=False),
    ]
    define(stack, associations=joined)
    found = {
        each["Properties"]["FileSystemPath"]: each["Properties"]
        for each in of_type(stack, "AWS::FSx::DataRepositoryAssociation")
    }
    assert found["/both"]["S3"]["AutoExportPolicy"] == {"Events": ["NEW", "CHANGED", "DELETED"]}
    assert found["/in"]["S3"] == {"AutoImportPolicy": {"Events": ["NEW", "CHANGED"]}}
    assert "S3" not in found["/link"]
    assert [found[name]["BatchImportMetaDataOnCreate"] for name in ("/in", "/link")] == [True, False]


def test_overlaps_are_seen_through_tokens(stack: cdk.Stack) -> None:
    bucket = CheckpointBucket(stack, "Checkpoints").bucket
    inside = association("/old", bucket.s3_url_for_object("old/"))
    assert codes(stack, checkpoint_bucket=bucket, associations=[inside]) == ["UC5024"]


def test_buckets_of_other_stacks_are_joined_by_their_tokens(stack: cdk.Stack) -> None:
    other = s3.Bucket.from_bucket_name(stack, "Other", cdk.Fn.import_value("other"))
    define(stack, associations=[association("/other", other.s3_url_for_object("c4/"))])
    path = only(stack, "AWS::FSx::DataRepositoryAssociation")["DataRepositoryPath"]
    assert path == {"Fn::Join": ["", ["s3://", {"Fn::ImportValue": "other"}, "/c4/"]]}


def test_a_dataset_is_imported_and_never_exported(stack: cdk.Stack) -> None:
    define(stack, associations=[DatasetBucket(stack, "C4").association("/datasets/c4")])
    found = only(stack, "AWS::FSx::DataRepositoryAssociation")
    assert found["FileSystemPath"] == "/datasets/c4"
    assert found["S3"] == {"AutoImportPolicy": {"Events": ["NEW", "CHANGED"]}}


@pytest.mark.deploy
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
    properties = define(stack, removal_policy=cdk.RemovalPolicy.DESTROY, **chosen)
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
    cloudformation.create_stack(StackName="storage", TemplateBody=template)
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
