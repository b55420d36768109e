"""A file system for Lustre: its kinds, ports, associations, and what is refused."""

import json
from typing import Any

import aws_cdk as cdk
import botocore.session
import pytest
from aws_cdk import assertions
from aws_cdk import aws_s3 as s3
from botocore.validate import ParamValidator
from tests.cfn_lint import lint
from tests.unit.ultracluster.builders import REGION, new_stack, of_type, only
from tests.unit.ultracluster.storage.file_systems import association, define_file_system, file_system

from ultracluster import CheckpointBucket
from ultracluster_local import LocalAws
from ultracluster_spec.findings import FindingsError

pytestmark = pytest.mark.slow


def test_what_a_kept_file_system_lives_by_is_kept_with_it(stack: cdk.Stack) -> None:
    """Its group and the rules among its servers; those with the nodes would keep EC2 from deleting the nodes' group."""
    file_system(stack)
    (own,) = [
        logical_id
        for logical_id, each in assertions.Template.from_stack(stack)
        .find_resources("AWS::EC2::SecurityGroup")
        .items()
        if each["Properties"]["GroupDescription"].startswith("Lustre")
    ]
    resources = assertions.Template.from_stack(stack).to_json()["Resources"]
    assert resources[own]["DeletionPolicy"] == "Retain"
    rules = [
        each
        for each in resources.values()
        if each["Type"].startswith("AWS::EC2::SecurityGroup") and own in json.dumps(each["Properties"])
    ]
    kept = [each for each in rules if json.dumps(each["Properties"]).count(own) == 2]
    assert len(kept) == 4
    for each in rules:
        assert (each.get("DeletionPolicy") == "Retain") is (each in kept)
        assert (each.get("UpdateReplacePolicy") == "Retain") is (each in kept)


_SCRATCH: dict[str, Any] = {"deployment_type": "SCRATCH_2"}


def test_scratch_has_neither_throughput_nor_metadata_configuration(stack: cdk.Stack) -> None:
    lustre = define_file_system(stack, **_SCRATCH)["LustreConfiguration"]
    assert lustre == {"DeploymentType": "SCRATCH_2", "DataCompressionType": "LZ4"}


_TIERED: dict[str, Any] = {"storage_type": "INTELLIGENT_TIERING", "read_cache": "NO_CACHE"}
_BACKUPS: dict[str, Any] = {"backup_retention_days": 7, "backup_start_time": "03:30"}
_EFA: dict[str, Any] = {"efa_clients": "p5.48xlarge", "storage_capacity_gib": 19_200}


def _parameter(stack: cdk.Stack, name: str) -> float:
    return cdk.CfnParameter(stack, name, type="Number").value_as_number


def test_numbers_that_only_the_deployment_knows_are_left_to_fsx(stack: cdk.Stack) -> None:
    numbers = ("throughput_capacity", "read_cache_gib", "metadata_iops", "backup_retention_days")
    given = {name: _parameter(stack, name.title().replace("_", "")) for name in numbers}
    tiered = _TIERED | {"read_cache": "USER_PROVISIONED"} | given
    lustre = define_file_system(stack, **tiered)["LustreConfiguration"]
    assert lustre["ThroughputCapacity"] == {"Ref": "ThroughputCapacity"}
    assert lustre["DataReadCacheConfiguration"]["SizeGiB"] == {"Ref": "ReadCacheGib"}
    assert lustre["MetadataConfiguration"]["Iops"] == {"Ref": "MetadataIops"}
    assert lustre["AutomaticBackupRetentionDays"] == {"Ref": "BackupRetentionDays"}
    other = new_stack()
    sized = define_file_system(other, storage_capacity_gib=_parameter(other, "Size"))
    assert sized["StorageCapacity"] == {"Ref": "Size"}


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


def test_the_place_of_an_association_in_the_list_is_not_its_name(stack: cdk.Stack) -> None:
    def named(stack: cdk.Stack, *folders: str) -> dict[str, str]:
        joined = [association(folder, f"s3://corpora{folder}") for folder in folders]
        define_file_system(stack, associations=joined)
        template = assertions.Template.from_stack(stack).find_resources("AWS::FSx::DataRepositoryAssociation")
        return {each["Properties"]["FileSystemPath"]: logical_id for logical_id, each in template.items()}

    other = cdk.Stack(cdk.App(), "Other", env=cdk.Environment(region=REGION))
    assert named(stack, "/a", "/b") == named(other, "/b", "/a")


def test_events_of_an_association_can_be_chosen(stack: cdk.Stack) -> None:
    joined = [
        association("/both", "s3://a", export_events=("CHANGED",)),
        association("/in", "s3://b", export_events=()),
        association("/link", "s3://c", import_events=(), export_events=(), import_existing=False),
    ]
    define_file_system(stack, associations=joined)
    found = {
        each["Properties"]["FileSystemPath"]: each["Properties"]
        for each in of_type(stack, "AWS::FSx::DataRepositoryAssociation")
    }
    assert found["/both"]["S3"]["AutoExportPolicy"] == {"Events": ["CHANGED"]}
    assert found["/in"]["S3"] == {"AutoImportPolicy": {"Events": ["NEW", "CHANGED"]}}
    assert "S3" not in found["/link"]
    assert [found[name]["BatchImportMetaDataOnCreate"] for name in ("/in", "/link")] == [True, False]


def test_buckets_of_other_stacks_are_joined_by_their_tokens(stack: cdk.Stack) -> None:
    other = s3.Bucket.from_bucket_name(stack, "Other", cdk.Fn.import_value("other"))
    define_file_system(stack, associations=[association("/other", other.s3_url_for_object("c4/"))])
    path = only(stack, "AWS::FSx::DataRepositoryAssociation")["DataRepositoryPath"]
    assert path == {"Fn::Join": ["", ["s3://", {"Fn::ImportValue": "other"}, "/c4/"]]}


def test_efa_opens_all_traffic_between_the_groups_and_requires_a_large_file_system(stack: cdk.Stack) -> None:
    system = file_system(stack, **_EFA)
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


def test_lustre_ports_are_open_within_the_file_system_and_to_the_nodes_both_ways(stack: cdk.Stack) -> None:
    storage = file_system(stack)
    nodes = stack.resolve(storage.node.scope.node.find_child("Network").security_group.security_group_id)
    own = stack.resolve(storage.connections.security_groups[0].security_group_id)
    expected = {
        (str(source), str(destination), first, last)
        for source, destination in ((own, own), (nodes, own), (own, nodes))
        for first, last in ((988, 988), (1018, 1023))
    }
    ingress = {
        (str(each["SourceSecurityGroupId"]), str(each["GroupId"]), each["FromPort"], each["ToPort"])
        for each in (resource["Properties"] for resource in of_type(stack, "AWS::EC2::SecurityGroupIngress"))
        if each["IpProtocol"] == "tcp" and each["FromPort"] != 443
    }
    egress = {
        (str(each["GroupId"]), str(each["DestinationSecurityGroupId"]), each["FromPort"], each["ToPort"])
        for each in (resource["Properties"] for resource in of_type(stack, "AWS::EC2::SecurityGroupEgress"))
        if each["IpProtocol"] == "tcp"
    }
    assert ingress == expected
    assert egress == expected


def test_the_ports_are_open_before_the_file_system_is_made(stack: cdk.Stack) -> None:
    file_system(stack)
    rules = [
        *of_type(stack, "AWS::EC2::SecurityGroupIngress"),
        *of_type(stack, "AWS::EC2::SecurityGroupEgress"),
    ]
    lustre = [rule for rule in rules if rule["Properties"]["Description"] == "Lustre"]
    assert len(of_type(stack, "AWS::FSx::FileSystem")[0]["DependsOn"]) == len(lustre) == 12


def codes(stack: cdk.Stack, **changes: Any) -> list[str]:
    with pytest.raises(FindingsError) as refused:
        define_file_system(stack, **changes)
    return [finding.code for finding in refused.value.findings]


def test_overlaps_are_seen_through_tokens(stack: cdk.Stack) -> None:
    bucket = CheckpointBucket(stack, "Checkpoints").bucket
    inside = association("/old", bucket.s3_url_for_object("old/"))
    assert codes(stack, checkpoint_bucket=bucket, associations=[inside]) == ["UC5024"]
