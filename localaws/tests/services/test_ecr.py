"""Container images in repositories."""

import pytest
from botocore.exceptions import ClientError

from ultracluster_local import LocalAws
from ultracluster_local.seeding.seed_client import SeedContainerImage, seed

pytestmark = pytest.mark.slow


def code(error: pytest.ExceptionInfo[ClientError]) -> str:
    return str(error.value.response["Error"]["Code"])


def test_container_images_are_seeded_once(local_aws: LocalAws) -> None:
    ecr = local_aws.client("ecr")
    for tag in ("one", "two", "two"):
        wanted = SeedContainerImage(repository="training", tag=tag, region="us-east-1")
        seed(endpoint=local_aws.endpoint, key=local_aws.key, regions=["us-east-1"], container_images=[wanted])
    tags = [image["imageTag"] for image in ecr.list_images(repositoryName="training")["imageIds"]]
    assert sorted(tags) == ["one", "two"]
