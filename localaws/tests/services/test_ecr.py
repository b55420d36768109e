"""Container images in repositories."""

import json

import pytest
from botocore.exceptions import ClientError
from tests.refusals import refusal

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


def test_rules_of_one_priority_and_an_unknown_upstream_are_refused(local_aws: LocalAws) -> None:
    ecr = local_aws.client("ecr")
    ecr.create_repository(repositoryName="images")
    rule = {"rulePriority": 1, "selection": {"tagStatus": "untagged", "countType": "imageCountMoreThan", "countNumber": 1}, "action": {"type": "expire"}}  # fmt: skip
    policy = json.dumps({"rules": [rule, {**rule, "description": "the same priority again"}]})
    assert "Duplicate priority in multiple rules" in refusal(ecr.put_lifecycle_policy, repositoryName="images", lifecyclePolicyText=policy)[1]  # fmt: skip
    assert "Could not map policyString into LifecyclePolicy" in refusal(ecr.put_lifecycle_policy, repositoryName="images", lifecyclePolicyText="x" * 100)[1]  # fmt: skip
    words = refusal(ecr.create_pull_through_cache_rule, ecrRepositoryPrefix="own", upstreamRegistryUrl="example.com")  # fmt: skip
    assert words == (
        "UnsupportedUpstreamRegistryException",
        "The upstream registry URL example.com is invalid",
    )
    filters = [{"filterType": "WILDCARD", "filter": "a*"}]
    words = refusal(ecr.create_repository, repositoryName="own", imageTagMutability="MUTABLE", imageTagMutabilityExclusionFilters=filters)[1]  # fmt: skip
    assert (
        words
        == "ImageTagMutabilityExclusionFilters are not allowed when imageTagMutability is set to MUTABLE"
    )
