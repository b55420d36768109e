"""The stack of a cluster names nothing itself, and tags what can be tagged."""

from pathlib import Path

import pytest
from tests.unit.stacks.conftest import ROOT, Templates
from tests.unit.stacks.stacks.resources_of_type import of_type

pytestmark = pytest.mark.slow


def test_nothing_is_named_by_us(templates: Templates) -> None:
    # A name of ours collides when a resource is replaced, or deployed twice.
    names = {
        "AWS::S3::Bucket": "BucketName",
        "AWS::Batch::ComputeEnvironment": "ComputeEnvironmentName",
        "AWS::Batch::JobQueue": "JobQueueName",
        "AWS::Batch::JobDefinition": "JobDefinitionName",
        "AWS::EC2::LaunchTemplate": "LaunchTemplateName",
        "AWS::EC2::SecurityGroup": "GroupName",
        "AWS::IAM::InstanceProfile": "InstanceProfileName",
        "AWS::IAM::Role": "RoleName",
        "AWS::Logs::LogGroup": "LogGroupName",
    }
    seen = set()
    for template in templates.values():
        for resource in template["Resources"].values():
            if resource["Type"] in names:
                seen.add(resource["Type"])
                assert names[resource["Type"]] not in resource["Properties"]
    assert seen == names.keys()


def test_nodes_are_tagged_with_their_cluster(templates: Templates) -> None:
    (template,) = of_type(templates["Cluster"], "AWS::EC2::LaunchTemplate")
    specifications = template["Properties"]["LaunchTemplateData"]["TagSpecifications"]
    assert {each["ResourceType"] for each in specifications} >= {"instance", "volume", "network-interface"}
    assert all({"Key": "Name", "Value": "quickstart"} in each["Tags"] for each in specifications)


def test_stacks_are_wiring(assembly: Path) -> None:
    del assembly
    for name in ("network", "storage", "cluster"):
        source = (ROOT / f"stacks/ultracluster_stacks/stacks/{name}_stack.py").read_text()
        body = source.split("def __init__", 1)[1]
        assert len(body.splitlines()) < 60
