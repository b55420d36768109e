import pytest

from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES
from ultracluster_catalog.neuron.neuron_images import (
    IMAGE_KINDS,
    NeuronImage,
)
from ultracluster_spec.findings import FindingsError
from ultracluster_spec.images import (
    check_integer_defaults,
    check_neuron_image,
    container_uri,
    explain_entrypoint,
    neuron_container,
)
from ultracluster_spec.instance_type import get_instance_type

ID = "ami-0123456789abcdef0"


def test_an_image_is_pinned_by_its_id() -> None:
    assert NeuronImage(kind="ecs-neuron", image_id=ID).facts is IMAGE_KINDS["ecs-neuron"]
    for wrong in (IMAGE_KINDS["ecs-neuron"].parameter or "", "resolve:ssm:/x", "ami-012", f"{ID}\n"):
        findings = check_neuron_image(NeuronImage(kind="ecs-neuron", image_id=wrong))
        assert [finding.code for finding in findings] == ["UC4110"]


def test_refuses_an_unknown_line_together_with_a_bad_id() -> None:
    findings = check_neuron_image(NeuronImage(kind="ubuntu", image_id="latest"))
    assert [finding.code for finding in findings] == ["UC4050", "UC4110"]
    assert check_neuron_image(NeuronImage(kind="own", image_id="ami-01234567")) == []


TRN1 = get_instance_type("trn1.32xlarge")


TRN2 = get_instance_type("trn2.48xlarge")


def test_the_last_training_image_for_pytorch_xla_is_pinned_to_a_tag_with_its_sdk() -> None:
    last = "public.ecr.aws/neuron/pytorch-training-neuronx:2.9.0-neuronx-py312-sdk2.30.0-ubuntu24.04"
    assert container_uri(neuron_container("torch-neuronx", TRN1)) == last
    assert container_uri(neuron_container("torch-neuronx", TRN2)) == last


@pytest.mark.parametrize("name", INSTANCE_TYPES)
def test_torchneuron_has_an_image_exactly_where_it_runs(name: str) -> None:
    machine = INSTANCE_TYPES[name]
    if machine.accelerator == "Trainium2":
        assert neuron_container("torchneuron", machine).framework == "torchneuron"
    else:
        with pytest.raises(FindingsError, match="UC6331"):
            neuron_container("torchneuron", machine)


def test_the_refusal_of_a_framework_lists_those_that_run_there() -> None:
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
        container_uri(neuron_container("torchneuron", TRN2))


@pytest.mark.parametrize(
    ("entrypoint", "why"),
    [
        (["torchrun"], "gives the command to torchrun"),
        (["/usr/bin/dockerd-entrypoint.py"], "waits in dockerd-entrypoint.py after the command has ended"),
        (["python", "/usr/local/bin/neuron-entrypoint.py"], "waits in neuron-entrypoint.py"),
        (["/bin/sh", "-c", "nginx -g 'daemon off;'"], "leaves the command out"),
        (["node"], "takes its first word for a script"),
    ],
)
def test_an_entrypoint_that_cannot_run_a_command_is_explained(entrypoint: list[str], why: str) -> None:
    assert why in explain_entrypoint(entrypoint)


@pytest.mark.parametrize(
    "entrypoint",
    [
        [],
        ["bash", "-m", "start_with_right_hostname.sh"],  # all Neuron training images of AWS
        ["python", "/usr/local/bin/vllm_entrypoint.py"],
        ["/opt/nvidia/nvidia_entrypoint.sh"],
        ["tini", "-g", "--"],
        ["dumb-init"],
        ["python", "-m", "sagemaker_launcher"],
    ],
)
def test_nothing_is_said_of_other_entrypoints(entrypoint: list[str]) -> None:
    assert explain_entrypoint(entrypoint) == ""


@pytest.mark.parametrize(
    ("image", "flags", "left"),
    [
        ("registry/training:sdk2.32.0", "", None),
        ("registry/training:2026-11", "", None),
        ("registry/sdk2.33/training:2026-11", "", None),
        ("registry/training:jax-sdk2.33.0", "", "--native-int64=enabled --implicit-integer-downcast=none"),
        ("registry/training:jax-sdk3.0.0", "-O1 --native-int64 disabled", "--implicit-integer-downcast=none"),
        ("registry/training:sdk2.33.0", "--native-int64=enabled --implicit-integer-downcast=pow", None),
    ],
)
def test_an_sdk_after_2_32_is_told_how_to_compile_integers(image: str, flags: str, left: str | None) -> None:
    found = check_integer_defaults(image, flags)
    assert [finding.code for finding in found] == (["UC6051"] if left else [])
    assert all(left in finding.problem for finding in found if left)
