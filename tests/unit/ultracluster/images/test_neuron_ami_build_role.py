"""The role of a build names each action."""

import json

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_ecs as ecs
from tests.unit.ultracluster.builders import of_type
from tests.unit.ultracluster.images.baked_ami import ami

from ultracluster import ContainerImage
from ultracluster_spec.findings import FindingsError

pytestmark = pytest.mark.slow


def test_the_role_may_pull_images_of_the_app(stack: cdk.Stack) -> None:
    images = ecr.Repository(stack, "Images")
    given = [
        ContainerImage.from_repository(images, "1"),
        ecs.ContainerImage.from_ecr_repository(images, "2"),
    ]
    ami(stack, container_images=given)

    (policy,) = of_type(stack, "AWS::IAM::Policy")
    pulls = [
        one
        for one in policy["Properties"]["PolicyDocument"]["Statement"]
        if "ecr:BatchGetImage" in one["Action"]
    ]
    assert {json.dumps(one["Resource"]) for one in pulls} == {
        json.dumps(stack.resolve(images.repository_arn))
    }
    with pytest.raises(FindingsError, match=r"container_images\[0\]"):
        ami(stack, container_images=[ecs.ContainerImage.from_asset(".")])
