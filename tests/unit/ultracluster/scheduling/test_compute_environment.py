"""Each source of capacity is a compute environment of its own."""

import aws_cdk as cdk
import pytest
from tests.unit.ultracluster.builders import IMAGE_ID, block, only, queue
from tests.unit.ultracluster.scheduling.environment_resources import resources_of_environment

pytestmark = pytest.mark.slow


def test_a_new_launch_template_reaches_the_environment_without_replacing_it(stack: cdk.Stack) -> None:
    queue(stack)
    properties = only(stack, "AWS::Batch::ComputeEnvironment")
    version = resources_of_environment(stack)["LaunchTemplate"]["Version"]
    assert version["Fn::GetAtt"][1] == "LatestVersionNumber"
    assert properties["ReplaceComputeEnvironment"] is False
    assert resources_of_environment(stack)["AllocationStrategy"] == "BEST_FIT_PROGRESSIVE"
    # A name, tags or a role of its own would make later changes replace it.
    assert not {"ComputeEnvironmentName", "Tags", "ServiceRole"} & properties.keys()


def test_the_environment_of_a_block_is_that_of_published_templates(stack: cdk.Stack) -> None:
    # BEST_FIT in each of them: awslabs/awsome-distributed-ai, 3.aws-batch, p5 and p6.
    queue(stack, capacity=block())
    properties = only(stack, "AWS::Batch::ComputeEnvironment")
    assert resources_of_environment(stack)["AllocationStrategy"] == "BEST_FIT"
    # "BEST_FIT isn't supported when updating compute environments": CloudFormation replaces it, which a name would prevent.
    assert properties["ReplaceComputeEnvironment"] is True
    assert not {"ComputeEnvironmentName", "Tags", "UpdatePolicy"} & properties.keys()


def test_an_update_does_not_end_running_jobs(stack: cdk.Stack) -> None:
    queue(stack)
    assert only(stack, "AWS::Batch::ComputeEnvironment")["UpdatePolicy"] == {
        "TerminateJobsOnUpdate": False,
        "JobExecutionTimeoutMinutes": 7200,
    }


@pytest.mark.parametrize("instance_type", ["trn1.2xlarge", "trn1.32xlarge", "trn2.48xlarge"])
def test_only_the_interfaces_have_security_groups(stack: cdk.Stack, instance_type: str) -> None:
    # AWS Batch refuses groups on both: aws/aws-cdk#21577.
    training = queue(stack, instance_type=instance_type)
    group = stack.resolve(training.nodes.network.security_group.security_group_id)
    data = only(stack, "AWS::EC2::LaunchTemplate")["LaunchTemplateData"]
    assert [each["Groups"] for each in data["NetworkInterfaces"]] == [[group]] * len(
        data["NetworkInterfaces"]
    )
    assert "SecurityGroupIds" not in resources_of_environment(stack)


def test_the_pinned_image_wins(stack: cdk.Stack) -> None:
    queue(stack)
    assert resources_of_environment(stack)["Ec2Configuration"] == [
        {"ImageType": "ECS_AL2023", "ImageIdOverride": IMAGE_ID}
    ]
