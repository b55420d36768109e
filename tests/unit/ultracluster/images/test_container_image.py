"""The image of a job is one that its role can pull."""

import json
from collections.abc import Callable
from pathlib import Path

import aws_cdk as cdk
import pytest
from aws_cdk import assertions
from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_ecr_assets as ecr_assets
from tests.unit.ultracluster.builders import of_type, queue

from ultracluster import (
    ContainerImage,
    Job,
    MultiNodeJob,
    PullThroughCache,
    TrainingImageRepository,
)
from ultracluster_spec.images import neuron_container
from ultracluster_spec.instance_type import get_instance_type

pytestmark = pytest.mark.slow


def _new(stack: cdk.Stack) -> ContainerImage:
    return TrainingImageRepository(stack, "Images").image("2026-11-20")


def _imported(stack: cdk.Stack) -> ContainerImage:
    somebody_elses = ecr.Repository.from_repository_name(stack, "Theirs", "their/training")
    return ContainerImage.from_repository(somebody_elses, "sha256:" + "0" * 64)


def _built(stack: cdk.Stack) -> ContainerImage:
    folder = Path(cdk.Stack.of(stack).node.root.outdir, "image")  # type: ignore[attr-defined] - the root is an app
    folder.mkdir(parents=True)
    (folder / "Dockerfile").write_text("FROM scratch\n")
    asset = ecr_assets.DockerImageAsset(stack, "Built", directory=str(folder))
    return ContainerImage.from_docker_image_asset(asset)


def _cached(stack: cdk.Stack) -> ContainerImage:
    return PullThroughCache(stack, "Gallery").image(
        neuron_container("jax", get_instance_type("trn2.48xlarge"))
    )


@pytest.mark.parametrize(
    ("image", "place"),
    [
        (_new, '{"Fn::GetAtt": ["Images'),
        (_imported, ":repository/their/training"),
        (_built, "container-assets"),
        (_cached, ":repository/ecr-public/neuron/*"),
    ],
)
def test_a_job_may_pull_an_image_of_the_app_and_nothing_else(
    stack: cdk.Stack, image: Callable[[cdk.Stack], ContainerImage], place: str
) -> None:
    job = MultiNodeJob(stack, "Pretrain", Job(command=("train.py",)), queue=queue(stack), image=image(stack))

    (statements,) = (
        policy["Properties"]["PolicyDocument"]["Statement"]
        for policy in of_type(stack, "AWS::IAM::Policy")
        if "ecr:BatchGetImage" in json.dumps(policy)
    )
    pulls = [each for each in statements if "ecr:BatchGetImage" in each["Action"]]
    assert [place in json.dumps(each["Resource"]) for each in pulls] == [True]
    assert assertions.Annotations.from_stack(stack).find_warning("*", assertions.Match.any_value()) == []
    assert isinstance(job.image, str)


def test_a_reference_that_is_a_token_is_not_treated_as_public(stack: cdk.Stack) -> None:
    repository = ecr.Repository(stack, "Images")
    MultiNodeJob(
        stack,
        "Pretrain",
        Job(image=repository.repository_uri_for_tag("1"), command=("train.py",)),
        queue=queue(stack),
    )

    (found,) = assertions.Annotations.from_stack(stack).find_warning("*", assertions.Match.any_value())
    assert "pass a ContainerImage" in str(found.entry.data)
    assert "is not in Amazon ECR" not in str(found.entry.data)
