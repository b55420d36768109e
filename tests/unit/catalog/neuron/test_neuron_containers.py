from pathlib import Path

import pytest

from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES, get_instance_type
from ultracluster_catalog.neuron.neuron import (
    ECS_NEURON_AMI_PARAMETER,
    LAST_XLA_TRAINING_IMAGE,
    NEURON_DLAMI_PARAMETERS,
    runs_torchneuron,
)
from ultracluster_catalog.neuron.neuron_containers import (
    NEURON_CONTAINERS,
    container_of_reference,
    neuron_container,
)
from ultracluster_rules.findings import FindingsError

TRN1 = get_instance_type("trn1.32xlarge")
TRN2 = get_instance_type("trn2.48xlarge")


def test_the_last_training_image_for_pytorch_xla_is_the_one_that_the_neuron_facts_name() -> None:
    assert neuron_container("torch-neuronx", TRN1).uri() == LAST_XLA_TRAINING_IMAGE
    assert neuron_container("torch-neuronx", TRN2).uri() == LAST_XLA_TRAINING_IMAGE


@pytest.mark.parametrize("name", INSTANCE_TYPES)
def test_torchneuron_has_an_image_exactly_where_it_runs(name: str) -> None:
    machine = INSTANCE_TYPES[name]
    if runs_torchneuron(machine):
        assert neuron_container("torchneuron", machine).framework == "torchneuron"
    else:
        with pytest.raises(FindingsError, match="UC6331"):
            neuron_container("torchneuron", machine)


def test_refusing_a_framework_says_which_others_run_there() -> None:
    with pytest.raises(
        FindingsError, match=r"UC6331.*trn1\.32xlarge.*Allowed: torch-neuronx, jax, nxd, vllm"
    ):
        neuron_container("torchneuron", TRN1)
    with pytest.raises(FindingsError, match=r"UC6331.*none of AWS's Neuron images"):
        neuron_container("jax", get_instance_type("p5.48xlarge"))


def test_refuses_a_framework_that_is_not_in_the_table() -> None:
    with pytest.raises(FindingsError, match="UC6333: got 'tensorflow'"):
        neuron_container("tensorflow", TRN2)  # type: ignore[arg-type]


def test_the_newest_vllm_is_for_trainium2_and_the_older_one_for_what_came_before() -> None:
    assert neuron_container("vllm", TRN2).sdk == "2.33.0"
    assert neuron_container("vllm", TRN1).sdk == "2.31.1"


def test_a_tag_that_no_source_names_is_not_made_up() -> None:
    with pytest.raises(FindingsError, match="UC6332"):
        neuron_container("torchneuron", TRN2).uri()


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
    page = Path(__file__).parents[4].joinpath("docs/images.md").read_text()
    for row in NEURON_CONTAINERS:
        assert (f"`{row.repository}:{row.tag}`" if row.tag else "tag not found in a source of record") in page
    for parameter in (*NEURON_DLAMI_PARAMETERS, ECS_NEURON_AMI_PARAMETER):
        assert f"`{parameter}`" in page
