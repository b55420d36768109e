"""AWS's container images for Neuron: frameworks, chips and repositories.

AWS publishes current images only in the public gallery of Amazon ECR, which has no VPC endpoint. Nodes without internet
access need a copy in a private registry. A tag that no source states is unknown (`tag` is None) and never guessed.
"""

from dataclasses import dataclass
from datetime import date
from functools import partial
from typing import Final, Literal

Framework = Literal["torch-neuronx", "torchneuron", "jax", "nxd", "vllm"]
"""torch-neuronx: PyTorch/XLA. torchneuron: PyTorch with Trainium as a native device. nxd: NeuronX Distributed."""

PUBLIC_GALLERY: Final = "public.ecr.aws/neuron"
"""Registry in which AWS publishes the images."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NeuronContainer:
    """One container image.

    Attributes:
        framework: Framework of the image.
        repository: Repository in the gallery, such as ``jax-training-neuronx``.
        tag: Tag, which names framework, Python, SDK and operating system. None if no source states it.
        sdk: Version of the Neuron SDK.
        accelerators: Supported chips, by the names of `InstanceType.accelerator`.
        source: Source of the row.
        dated: Day of that source.
        note: Caveats; empty if there are none.
    """

    framework: Framework
    repository: str
    tag: str | None
    sdk: str
    accelerators: frozenset[str]
    source: str
    dated: date
    note: str = ""

    def uri(self, registry: str = PUBLIC_GALLERY) -> str:
        """Return the reference of the image.

        Args:
            registry: Registry and prefix of a copy under the same repository and tag, such as
                ``123456789012.dkr.ecr.us-east-2.amazonaws.com/neuron``. Default: the public gallery.

        Raises:
            LookupError: If the tag is not known.
        """
        if self.tag is None:
            raise LookupError(f"the tag of {self.repository} with SDK {self.sdk} is unknown")
        return f"{registry}/{self.repository}:{self.tag}"


_of_the_readme = partial(
    NeuronContainer,
    accelerators=frozenset({"Inferentia2", "Trainium", "Trainium2", "Trainium3"}),
    source="README of aws-neuron/deep-learning-containers",
    dated=date(2026, 8, 17),
)
_of_the_guide = partial(
    NeuronContainer,
    accelerators=frozenset({"Trainium2", "Trainium3"}),
    source="Neuron documentation 2.33, Install PyTorch via Deep Learning Container",
    dated=date(2026, 10, 16),
)

NEURON_CONTAINERS: Final[tuple[NeuronContainer, ...]] = (
    _of_the_readme(
        framework="torch-neuronx",
        repository="pytorch-training-neuronx",
        tag="2.9.0-neuronx-py312-sdk2.30.0-ubuntu24.04",
        sdk="2.30.0",
        note="The last training image of this line; AWS ended it with SDK 2.31.0.",
    ),
    _of_the_guide(
        framework="torchneuron",
        repository="pytorch-training-neuronx",
        tag=None,
        sdk="2.33.0",
        note="The guide says that there is one, and names neither repository nor tag: the repository is that of "
        "the older training images.",
    ),
    _of_the_readme(
        framework="jax",
        repository="jax-training-neuronx",
        tag="0.10.0-neuronx-py313-sdk2.32.0-ubuntu24.04",
        sdk="2.32.0",
    ),
    _of_the_readme(
        framework="nxd",
        repository="pytorch-training-neuronx",
        tag="2.9.0-neuronx-py312-sdk2.30.0-ubuntu24.04",
        sdk="2.30.0",
        note="Holds neuronx_distributed and neuronx_distributed_training; from SDK 2.31.0 no image does.",
    ),
    _of_the_guide(
        framework="vllm",
        repository="pytorch-inference-vllm-neuronx",
        tag="0.29.0.1.2.0-neuronx-py314-sdk2.33.0-ubuntu26.04",
        sdk="2.33.0",
    ),
    _of_the_readme(
        framework="vllm",
        repository="pytorch-inference-vllm-neuronx",
        tag="0.16.0-neuronx-py312-sdk2.31.1-ubuntu24.04",
        sdk="2.31.1",
        note="The last one for chips before Trainium2.",
    ),
)
"""The newest image of each framework, and the last image for chips that newer images do not support."""


def container_of_reference(image: str) -> NeuronContainer | None:
    """Return the row of an image reference in any registry; None if the catalogue lacks the image."""
    name = image.rpartition("/")[2].partition("@")[0]
    return next((row for row in NEURON_CONTAINERS if row.tag and f"{row.repository}:{row.tag}" == name), None)
