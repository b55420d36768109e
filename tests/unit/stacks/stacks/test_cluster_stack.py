"""The stack of a cluster names nothing itself, and tags what can be tagged."""

import pytest
from tests.unit.stacks.conftest import Templates

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
