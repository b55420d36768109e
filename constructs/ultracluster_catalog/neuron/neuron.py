"""AWS Neuron: AMI parameters, and the environment variables and flags of compile caches and runtime.

Sources: Neuron documentation 2.32 and 2.33 (read October 2026), the ECS and Batch guides, and the source of
torch-neuronx. Which framework a chip runs: TorchNeuron needs Trainium2; Trainium and Inferentia2 stay with
torch-neuronx on PyTorch/XLA.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from ultracluster_catalog.machines.instance_type import InstanceType

ECS_NEURON_AMI_PARAMETER: Final = (
    "/aws/service/ecs/optimized-ami/amazon-linux-2023/neuron/recommended/image_id"
)
"""SSM public parameter of the AMI for ECS and Batch with the Neuron driver. It has no EFA driver.

Its value changes with each release, so a rollout refers to an AMI by ID and not by this parameter.
"""

NEURON_DLAMI_PARAMETERS: Final[Mapping[str, str]] = MappingProxyType(
    {
        name: f"/aws/service/neuron/dlami/{name}/latest/image_id"
        for name in (
            "base/amazon-linux-2023",
            "base/ubuntu-24.04",
            "multi-framework/ubuntu-24.04",
            "jax-0.10/amazon-linux-2023",
            "jax-0.10/ubuntu-24.04",
            "pytorch-2.9/ubuntu-24.04",
        )
    }
)
"""SSM public parameters of the Neuron Deep Learning AMIs (with EFA) of SDK 2.32, by name.

pytorch-2.9 is frozen at SDK 2.31.1: PyTorch/XLA has no newer one. SDK 2.33 adds "Deep Learning AMI Neuron torch-neuronx 2.14.0"
(Ubuntu 24.04 and 26.04, TorchNeuron; documentation 2.33.0, 2026-10-16), whose parameter no readable source names. A field
report of 2026-10-03 misses all of them in ap-south-2.
"""

XLA_CACHE_VARIABLE: Final = "NEURON_COMPILE_CACHE_URL"
"""Compile cache of torch-neuronx: an S3 URL or a path. `CACHE_URL_FLAG` in the compiler flags wins over it."""

XLA_COMPILER_FLAGS_VARIABLE: Final = "NEURON_CC_FLAGS"
"""Flags of the Neuron compiler."""

CACHE_URL_FLAG: Final = "--cache_dir"
"""Compiler flag with the S3 URL or path of the compile cache."""

CACHE_BYPASS_FLAG: Final = "--no_cache"
"""Compiler flag that disables the compile cache."""

RETRY_FAILED_COMPILATION_FLAG: Final = "--retry_failed_compilation"
"""Compiler flag that retries failed compilations; without it, the cache keeps failures, too."""

TORCHNEURON_CACHE_VARIABLE: Final = "TORCH_NEURONX_NEFF_CACHE_DIR"
"""Compile cache of TorchNeuron: a POSIX path; it cannot be in S3."""

VLLM_REMOTE_CACHE_VARIABLE: Final = "NEURON_LIBTORCH_REMOTE_CACHE"
"""Compile cache of vLLM Neuron that nodes share: a POSIX path, filled by ``save_cache()``; its local one is elsewhere."""

JAX_CACHE_VARIABLE: Final = "JAX_COMPILATION_CACHE_DIR"
"""JAX's own persistent cache of executables: a path. The Neuron plugin additionally uses `XLA_CACHE_VARIABLE`."""


_TORUS_CHIPS: Final = 16
_TORUS_ROW: Final = 4


def process_counts(machine: InstanceType, core_size: int | None = None) -> tuple[int, ...]:
    """Return the numbers of processes over which collectives on one node are supported; empty if they are not documented.

    On the nodes of 16 Trainium chips it is one core, one chip, one row of four chips, or all: Neuron lists 1, 2, 8 and 32
    for trn1.32xlarge (transformers-neuronx, README), and for trn2.48xlarge 1, 4, 16 and 64 logical cores of two. The runtime
    answers others with "Unsupported topology. Supported number of Neuron Cores is 1, 2, 8, 16 or a multiple of 32"
    (https://github.com/huggingface/optimum-neuron/issues/619, 2024-06-02); 16 failed too
    (https://github.com/huggingface/optimum-neuron/issues/761, 2025-01-16).

    Args:
        machine: Type of the node.
        core_size: Number of physical cores in a logical one. Default: that of the type.
    """
    if machine.accelerator not in {"Trainium", "Trainium2"} or machine.chips != _TORUS_CHIPS:
        return ()
    cores = machine.logical_neuron_cores if core_size is None else machine.neuron_cores // core_size
    of_a_chip = cores // machine.chips
    return (1, of_a_chip, of_a_chip * _TORUS_ROW, cores)
