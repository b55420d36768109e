import json

import aws_cdk as cdk
import pytest
from aws_cdk import assertions
from tests.unit.ultracluster.builders import of_type, only
from tests.unit.ultracluster.storage.default_file_system import file_system

from ultracluster import CheckpointBucket

pytestmark = pytest.mark.slow


def test_is_persistent_2_of_lustre_2_15_with_metadata_and_compression(stack: cdk.Stack) -> None:
    file_system(stack)
    properties = only(stack, "AWS::FSx::FileSystem")
    assert properties["FileSystemTypeVersion"] == "2.15"
    assert properties["StorageCapacity"] == 4800
    assert properties["LustreConfiguration"] == {
        "DeploymentType": "PERSISTENT_2",
        "PerUnitStorageThroughput": 250,
        "DataCompressionType": "LZ4",
        "MetadataConfiguration": {"Mode": "AUTOMATIC"},
    }


def test_compression_can_be_disabled(stack: cdk.Stack) -> None:
    file_system(stack, data_compression=False)
    assert only(stack, "AWS::FSx::FileSystem")["LustreConfiguration"]["DataCompressionType"] == "NONE"


def test_is_kept_when_it_is_deleted_or_replaced(stack: cdk.Stack) -> None:
    bucket = CheckpointBucket(stack, "Checkpoints").bucket
    file_system(stack, checkpoint_bucket=bucket)
    for resource_type in ("AWS::FSx::FileSystem", "AWS::FSx::DataRepositoryAssociation"):
        (resource,) = of_type(stack, resource_type)
        assert (resource["DeletionPolicy"], resource["UpdateReplacePolicy"]) == ("Retain", "Retain")


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


def test_is_deleted_with_the_stack_on_request(stack: cdk.Stack) -> None:
    file_system(stack, removal_policy=cdk.RemovalPolicy.DESTROY)
    assert of_type(stack, "AWS::FSx::FileSystem")[0]["DeletionPolicy"] == "Delete"
    assert not [
        each for each in of_type(stack, "AWS::EC2::SecurityGroup") if each.get("DeletionPolicy") == "Retain"
    ]


def test_a_file_removed_on_lustre_stays_in_the_bucket(stack: cdk.Stack) -> None:
    file_system(stack, checkpoint_bucket=CheckpointBucket(stack, "Checkpoints").bucket)
    association = only(stack, "AWS::FSx::DataRepositoryAssociation")
    assert association["FileSystemPath"] == "/checkpoints"
    for policy in ("AutoImportPolicy", "AutoExportPolicy"):
        assert association["S3"][policy] == {"Events": ["NEW", "CHANGED"]}


def test_links_no_bucket_by_default(stack: cdk.Stack) -> None:
    file_system(stack)
    assert of_type(stack, "AWS::FSx::DataRepositoryAssociation") == []
