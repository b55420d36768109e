from pathlib import Path

import pytest

from ultracluster_catalog.neuron.neuron import (
    ECS_NEURON_AMI_PARAMETER,
    NEURON_DLAMI_PARAMETERS,
)
from ultracluster_catalog.neuron.neuron_containers import NEURON_CONTAINERS, container_of_reference


def test_a_copy_in_a_private_registry_is_known_by_its_repository_and_tag() -> None:
    for row in NEURON_CONTAINERS:
        if row.tag is None:
            continue
        copy = row.uri("123456789012.dkr.ecr.us-east-2.amazonaws.com/neuron")
        assert copy.startswith("123456789012.dkr.ecr.us-east-2.amazonaws.com/neuron/")
        found = container_of_reference(copy)
        assert found is not None
        assert found.accelerators == row.accelerators
        assert found == container_of_reference(f"{copy}@sha256:{'0' * 64}")
    assert container_of_reference("123456789012.dkr.ecr.us-east-2.amazonaws.com/training:2026-11-20") is None
    # The row without a tag is nobody's.
    assert container_of_reference("public.ecr.aws/neuron/pytorch-training-neuronx:None") is None


def test_every_tag_is_pinned_to_its_sdk() -> None:
    for row in NEURON_CONTAINERS:
        if row.tag is not None:
            assert f"-sdk{row.sdk}-" in row.tag


def test_the_page_about_images_lists_every_tag_and_every_line_of_amis() -> None:
    page = Path(__file__).parents[4].joinpath("docs/concepts/images.md").read_text()
    for row in NEURON_CONTAINERS:
        assert (
            f"`{row.repository}:{row.tag}`" if row.tag else "no tag found in an authoritative source"
        ) in page
    for parameter in (*NEURON_DLAMI_PARAMETERS, ECS_NEURON_AMI_PARAMETER):
        assert f"`{parameter}`" in page


def test_an_image_whose_tag_is_unknown_has_no_reference() -> None:
    for row in NEURON_CONTAINERS:
        if row.tag is None:
            with pytest.raises(LookupError, match=row.repository):
                row.uri()
