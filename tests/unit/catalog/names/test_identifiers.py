"""Identifiers that people give: what they look like, and what they do not."""

import re

import pytest

from ultracluster_catalog.names.identifiers import ECR_IMAGE

REPOSITORY = "123456789012.dkr.ecr.us-east-2.amazonaws.com/neuron/jax-training"
DIGEST = "sha256:" + "0" * 64


@pytest.mark.parametrize("suffix", ["", ":1.0", f"@{DIGEST}", f":1.0@{DIGEST}"])
def test_an_ecr_image_has_a_tag_a_digest_both_or_neither(suffix: str) -> None:
    found = re.fullmatch(ECR_IMAGE, REPOSITORY + suffix)

    assert found is not None
    assert (found["account"], found["region"], found["repository"]) == (
        "123456789012",
        "us-east-2",
        "neuron/jax-training",
    )
    assert (found["tag"], found["digest"]) == (
        "1.0" if ":1.0" in suffix else None,
        DIGEST if DIGEST in suffix else None,
    )


def test_a_registry_in_china_has_its_own_domain() -> None:
    found = re.fullmatch(ECR_IMAGE, "123456789012.dkr.ecr.cn-north-1.amazonaws.com.cn/training:1")

    assert found is not None
    assert (found["region"], found["repository"]) == ("cn-north-1", "training")


@pytest.mark.parametrize(
    "image",
    [
        "public.ecr.aws/neuron/x:1",
        REPOSITORY.replace("neuron/jax", "neuron/*"),
        f"{REPOSITORY}:1' ; true",
        REPOSITORY.replace("123456789012", "12345678901"),
        REPOSITORY.replace(".com", ".com.example"),
    ],
)
def test_other_images_are_not_taken_for_one_in_ecr(image: str) -> None:
    assert re.fullmatch(ECR_IMAGE, image) is None
