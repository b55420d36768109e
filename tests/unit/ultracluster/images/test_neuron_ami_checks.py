"""Arguments of an AMI are refused together."""

from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from tests.unit.ultracluster.builders import IMAGE, IMAGE_ID, new_stack
from tests.unit.ultracluster.images.baked_ami import ami

from ultracluster_catalog.neuron.neuron_images import NeuronImage
from ultracluster_spec.findings import FindingsError

pytestmark = pytest.mark.slow

SUM = "0" * 64


def codes(**changes: Any) -> list[str]:
    with pytest.raises(FindingsError) as caught:
        ami(**changes)
    return [f"{finding.code} {finding.path}" for finding in caught.value.findings]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"parent": NeuronImage(kind="dlami/base/ubuntu-24.04", image_id=IMAGE_ID)}, ["UC4051 parent"]),
        ({"efa_installer_version": "1.50.0"}, ["UC4052 efa_installer_version"]),
        ({"efa_installer_version": "latest", "efa_installer_sha256": SUM}, ["UC4052 efa_installer_version"]),
        ({"efa_installer_sha256": "0" * 63}, ["UC4052 efa_installer_version"]),
        ({"container_images": ["public.ecr.aws/neuron/x:1"]}, ["UC4053 container_images[0]"]),
        ({"container_images": [IMAGE, IMAGE.partition(":")[0]]}, ["UC4053 container_images[1]"]),
        ({"container_images": [f"{IMAGE}' ; true"]}, ["UC4053 container_images[0]"]),
        ({"name": "ab"}, ["UC4054 name"]),
        ({"name": "a" * 65}, ["UC4054 name"]),
        ({"name": "no des"}, ["UC4054 name"]),
        ({"root_volume_gib": 29}, ["UC4054 root_volume_gib"]),
        ({"regions": ["us-east-1", "us-east-1"]}, ["UC4054 regions[1]"]),
        ({"regions": ["Ohio"]}, ["UC4054 regions[0]"]),
        ({"name": "", "efa_installer_version": "1.0.0"}, ["UC4052 efa_installer_version", "UC4054 name"]),
        ({"container_images": [f"{IMAGE}{index}" for index in range(80)]}, ["UC4054 container_images"]),
    ],
)
def test_rejects_invalid_arguments(changes: dict[str, Any], expected: list[str]) -> None:
    assert codes(**changes) == expected


def test_rejects_a_subnet_without_its_vpc() -> None:
    stack = new_stack()
    subnet = ec2.Subnet.from_subnet_id(stack, "Subnet", "subnet-01234567")
    assert codes(stack=stack, subnet=subnet) == ["UC4054 subnet"]


def test_accepts_arguments_at_their_limits() -> None:
    digest = f"{IMAGE.partition(':')[0]}@sha256:{SUM}"
    token = cdk.Token.as_string({"Ref": "Image"})
    made = ami(
        name="a1b",
        container_images=[digest, token],
        efa_installer_version="1.50.0",
        efa_installer_sha256=SUM,
        root_volume_gib=30,
    )
    assert made.name == "a1b"
    assert made.pipeline_arn
    assert made.grant_principal
    ami(name="a" * 64)
