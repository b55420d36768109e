"""Public AMIs of AWS and the parameters that name them."""

from typing import Any

import pytest
from moto.ec2.models import ec2_backends

from ultracluster_local import LocalAws
from ultracluster_local.instance.environment import ACCOUNT

pytestmark = pytest.mark.slow

REGION = "us-east-2"
DLAMI = "/aws/service/neuron/dlami/base/ubuntu-24.04/latest/image_id"
ECS = "/aws/service/ecs/optimized-ami/amazon-linux-2023/neuron/recommended/image_id"


def value(local_aws: LocalAws, name: str, region: str = REGION) -> str:
    return str(local_aws.client("ssm", region).get_parameter(Name=name)["Parameter"]["Value"])


def image(local_aws: LocalAws, image_id: str, region: str = REGION) -> dict[str, Any]:
    (found,) = local_aws.client("ec2", region).describe_images(ImageIds=[image_id])["Images"]
    result: dict[str, Any] = found
    return result


def test_the_image_that_a_parameter_names_exists_and_is_marked_as_a_fake(local_aws: LocalAws) -> None:
    found = image(local_aws, value(local_aws, DLAMI))

    assert found["Name"] == "fake of the Neuron DLAMI base/ubuntu-24.04"
    assert (found["Public"], found["Architecture"]) == (True, "x86_64")
    assert found["CreationDate"].startswith("2026-08-17")


def test_the_image_for_ecs_has_the_name_in_its_parameter(local_aws: LocalAws) -> None:
    found = image(local_aws, value(local_aws, ECS))

    name = value(local_aws, ECS.replace("image_id", "image_name"))
    assert found["Name"] == name
    assert found["CreationDate"][:10].replace("-", "") in name


def test_an_image_has_an_id_for_each_region_that_a_reset_keeps(local_aws: LocalAws) -> None:
    here, there = value(local_aws, DLAMI), value(local_aws, DLAMI, "us-east-1")
    assert here != there

    local_aws.reset()

    assert value(local_aws, DLAMI) == here
    assert image(local_aws, here)["Name"].startswith("fake")


def test_no_image_is_created_before_a_parameter_is_read(local_aws: LocalAws) -> None:
    name = [{"Name": "name", "Values": ["fake of the Neuron DLAMI*"]}]
    ec2 = local_aws.client("ec2", REGION)
    assert ec2.describe_images(Filters=name)["Images"] == []

    value(local_aws, DLAMI)

    assert len(ec2.describe_images(Filters=name)["Images"]) > 1


@pytest.mark.parametrize("read_first", ["amis", "snapshots"])
def test_public_images_and_their_snapshots_are_there_when_either_is_read(
    local_aws: LocalAws, read_first: str
) -> None:
    local_aws.reset()
    ec2 = ec2_backends[ACCOUNT][REGION]

    found = len(getattr(ec2, read_first))

    assert len(ec2.amis) == len(ec2.snapshots) == found > 1000


def test_a_framework_that_has_no_image_has_no_parameter(local_aws: LocalAws) -> None:
    ssm = local_aws.client("ssm", REGION)

    with pytest.raises(ssm.exceptions.ParameterNotFound):
        ssm.get_parameter(Name=DLAMI.replace("base", "caffe"))
