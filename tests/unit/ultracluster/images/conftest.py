"""An AMI that is baked once."""

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from tests.unit.ultracluster.builders import IMAGE, new_stack
from tests.unit.ultracluster.images.baked_ami import ami


@pytest.fixture(scope="module")
def baked() -> cdk.Stack:
    stack = new_stack()
    vpc = ec2.Vpc.from_vpc_attributes(stack, "Vpc", vpc_id="vpc-01234567", availability_zones=["us-east-2a"])
    subnet = ec2.Subnet.from_subnet_id(stack, "Subnet", "subnet-01234567")
    ami(stack, container_images=[IMAGE], regions=["us-east-1"], vpc=vpc, subnet=subnet)
    return stack
