import json

import aws_cdk as cdk
import pytest
from aws_cdk import aws_iam as iam
from tests.unit.ultracluster.builders import new_stack, of_type, only

from ultracluster import PullThroughCache, TrainingImageRepository
from ultracluster_catalog.neuron.neuron_containers import container_of_reference
from ultracluster_spec.findings import FindingsError
from ultracluster_spec.images import neuron_container
from ultracluster_spec.instance_type import get_instance_type

pytestmark = pytest.mark.slow


def test_only_images_without_a_tag_are_removed(stack: cdk.Stack) -> None:
    TrainingImageRepository(stack, "Images", untagged_days=1)
    (rule,) = json.loads(only(stack, "AWS::ECR::Repository")["LifecyclePolicy"]["LifecyclePolicyText"])[
        "rules"
    ]
    assert rule["selection"] == {
        "tagStatus": "untagged",
        "countType": "sinceImagePushed",
        "countNumber": 1,
        "countUnit": "days",
    }


def test_an_image_without_a_tag_is_kept_for_a_day_at_least(stack: cdk.Stack) -> None:
    with pytest.raises(FindingsError, match=r"untagged_days: got 0"):
        TrainingImageRepository(stack, "Images", untagged_days=0)


def test_pulling_and_pushing_are_granted_by_named_actions(stack: cdk.Stack) -> None:
    repository = TrainingImageRepository(stack, "Images")
    repository.grant_pull(iam.User(stack, "Puller"))
    repository.grant_push(iam.User(stack, "Pusher"))
    actions = {
        action
        for policy in of_type(stack, "AWS::IAM::Policy")
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
        for action in ([statement["Action"]] if isinstance(statement["Action"], str) else statement["Action"])
    }
    assert {"ecr:BatchGetImage", "ecr:PutImage", "ecr:GetAuthorizationToken"} <= actions
    assert not [action for action in actions if "*" in action or "Delete" in action]


def test_an_image_is_named_by_its_tag(stack: cdk.Stack) -> None:
    repository = TrainingImageRepository(stack, "Images")
    cdk.CfnOutput(stack, "Image", value=repository.image("2026-11-20").reference)
    assert ":2026-11-20" in json.dumps(cdk.assertions.Template.from_stack(stack).find_outputs("Image"))


def test_the_cache_holds_the_gallery_and_names_its_images(stack: cdk.Stack) -> None:
    cache = PullThroughCache(stack, "Gallery")
    container = neuron_container("jax", get_instance_type("trn2.48xlarge"))
    reference = cache.image(container).reference
    assert only(stack, "AWS::ECR::PullThroughCacheRule") == {
        "EcrRepositoryPrefix": "ecr-public",
        "UpstreamRegistryUrl": "public.ecr.aws",
    }
    assert f"/ecr-public/neuron/{container.repository}:{container.tag}" in reference
    assert container_of_reference(reference) == container


def test_only_principals_that_fill_the_cache_can_create_repositories(stack: cdk.Stack) -> None:
    cache = PullThroughCache(stack, "Gallery", prefix="gallery")
    assert cache.prefix == "gallery"
    cache.grant_pull(iam.User(stack, "Node"))
    cache.grant_fill(iam.User(stack, "Builder"))
    policies = {
        str(policy["Properties"]["Users"]): json.dumps(policy["Properties"]["PolicyDocument"])
        for policy in of_type(stack, "AWS::IAM::Policy")
    }
    assert [("CreateRepository" in text, "Builder" in user) for user, text in sorted(policies.items())] == [
        (True, True),
        (False, False),
    ]
    assert all("repository/gallery/neuron/*" in text for text in policies.values())


@pytest.mark.parametrize("prefix", ["a", "a" * 31, "Gallery", "a//b", "/a", "a-", ""])
def test_rejects_a_prefix_that_ecr_would_refuse(prefix: str) -> None:
    with pytest.raises(FindingsError, match=r"UC6339: \S+: prefix: got "):
        PullThroughCache(new_stack(), "Gallery", prefix=prefix)


@pytest.mark.parametrize("prefix", ["ab", "a" * 30, "a/b-c_d.e"])
def test_accepts_a_prefix_that_ecr_takes(prefix: str) -> None:
    PullThroughCache(new_stack(), "Gallery", prefix=prefix)
