import json

import aws_cdk as cdk
import pytest
from aws_cdk import assertions
from tests.unit.ultracluster.builders import of_type
from tests.unit.ultracluster.storage.default_file_system import file_system

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


def test_links_no_bucket_by_default(stack: cdk.Stack) -> None:
    file_system(stack)
    assert of_type(stack, "AWS::FSx::DataRepositoryAssociation") == []
