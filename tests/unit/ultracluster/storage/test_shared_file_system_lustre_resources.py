"""Associations and backups of a file system, as FSx takes them."""

import aws_cdk as cdk
import pytest
from aws_cdk import assertions
from aws_cdk import aws_s3 as s3
from tests.unit.ultracluster.builders import REGION, of_type, only
from tests.unit.ultracluster.storage.file_systems import association, define_file_system

pytestmark = pytest.mark.slow


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
