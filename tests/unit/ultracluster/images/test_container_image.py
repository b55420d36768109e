"""The image of a job is one that its role can pull."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import aws_cdk as cdk
import pytest
from aws_cdk import assertions
from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_ecr_assets as ecr_assets
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_secretsmanager as secretsmanager
from tests.unit.ultracluster.builders import IMAGE, of_type, only, queue

from ultracluster import (
    ContainerImage,
    Job,
    MultiNodeJob,
    PullThroughCache,
    TrainingImageRepository,
)
from ultracluster.images.container_image import AnyContainerImage
from ultracluster_spec.findings import FindingsError
from ultracluster_spec.images import neuron_container
from ultracluster_spec.instance_type import get_instance_type

pytestmark = pytest.mark.slow


def _new(stack: cdk.Stack) -> ContainerImage:
    return TrainingImageRepository(stack, "Images").image("2026-11-20")


def _imported(stack: cdk.Stack) -> ContainerImage:
    somebody_elses = ecr.Repository.from_repository_name(stack, "Theirs", "their/training")
    return ContainerImage.from_repository(somebody_elses, "sha256:" + "0" * 64)


def _folder(stack: cdk.Stack) -> str:
    folder = Path(cdk.Stack.of(stack).node.root.outdir, "image")  # type: ignore[attr-defined] - the root is an app
    folder.mkdir(parents=True)
    (folder / "Dockerfile").write_text("FROM scratch\n")
    return str(folder)


def _built(stack: cdk.Stack) -> ContainerImage:
    return ContainerImage.from_docker_image_asset(_asset(stack))


def _of_ecs(stack: cdk.Stack) -> ecs.ContainerImage:
    return ecs.ContainerImage.from_ecr_repository(ecr.Repository(stack, "Images"), "2026-11-20")


def _asset(stack: cdk.Stack) -> ecr_assets.DockerImageAsset:
    return ecr_assets.DockerImageAsset(stack, "Built", directory=_folder(stack))


def _built_by_ecs(stack: cdk.Stack) -> ecs.ContainerImage:
    return ecs.ContainerImage.from_asset(_folder(stack))


def _asset_of_ecs(stack: cdk.Stack) -> ecs.ContainerImage:
    return ecs.ContainerImage.from_docker_image_asset(_asset(stack))


def _of_registry(stack: cdk.Stack) -> ecs.ContainerImage:  # noqa: ARG001 - as the others
    return ecs.ContainerImage.from_registry(IMAGE)


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
        (_asset, "container-assets"),
        (_of_ecs, '{"Fn::GetAtt": ["Images'),
        (_built_by_ecs, "container-assets"),
        (_asset_of_ecs, "container-assets"),
        (_of_registry, ":repository/training"),
        (_cached, ":repository/ecr-public/neuron/*"),
    ],
)
def test_a_job_may_pull_an_image_of_the_app_and_nothing_else(
    stack: cdk.Stack, image: Callable[[cdk.Stack], AnyContainerImage], place: str
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
    assert of_type(stack, "AWS::ECS::TaskDefinition") == []
    (nodes,) = only(stack, "AWS::Batch::JobDefinition")["NodeProperties"]["NodeRangeProperties"]
    assert nodes["Container"]["Image"] == stack.resolve(job.image)


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


def test_a_job_reads_the_credentials_of_a_private_registry(stack: cdk.Stack) -> None:
    secret = secretsmanager.Secret.from_secret_name_v2(stack, "Login", "registry")
    image = ecs.ContainerImage.from_registry("registry.example.com/training:1", credentials=secret)
    MultiNodeJob(stack, "Pretrain", Job(command=("train.py",)), queue=queue(stack), image=image)

    (nodes,) = only(stack, "AWS::Batch::JobDefinition")["NodeProperties"]["NodeRangeProperties"]
    assert "secret:registry" in json.dumps(nodes["Container"]["RepositoryCredentials"])
    assert "secret:registry" in json.dumps(of_type(stack, "AWS::IAM::Policy"))


def test_a_job_refuses_what_is_no_image_and_says_what_to_pass(stack: cdk.Stack) -> None:
    repository = ecr.Repository(stack, "Images")
    nodes = queue(stack)
    for image, given, told in (
        (None, repository, "from_repository(repository, TAG)"),
        (None, 7, "an object of int"),
        (IMAGE, IMAGE, "two images"),
        (ecs.ContainerImage.from_registry(IMAGE), None, "Job(...), image=..."),
    ):
        with pytest.raises(FindingsError, match=re.escape(told)):
            MultiNodeJob(stack, "Pretrain", Job(image=image, command=("a",)), queue=nodes, image=given)
