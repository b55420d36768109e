"""Instance types that compile graphs before the paid hours of a larger one.

The Neuron compiler needs no Neuron device: it "may be performed on any EC2 instance or even on-premises" (Neuron Compiler
FAQ, 2026-08). Tracing a training program does: only vLLM Neuron is documented to capture graphs on a CPU host (CPU Compilation, 2026-06).
`torch_neuronx.analyze` and `torch_neuronx.trace` of one model run on any host (their pages, 2026-11).
"""

from collections.abc import Mapping
from datetime import date
from typing import Final

from ultracluster_catalog.machines.instance_type import (
    ON_DEMAND,
    SPOT,
    InstanceType,
    describe_instance_type,
    network_cards,
)
from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES
from ultracluster_catalog.places.zones import offered_zones

CPU: Final = "cpu"
"""Name of the host without Neuron devices, where a precompile job names its instance type."""

CPU_HOST: Final = describe_instance_type(
    "m7i.24xlarge",
    vcpus=96,
    memory_gib=384,
    accelerator="none",
    chips=0,
    device_memory_gib=0,
    cards=network_cards(1, max_interfaces=15, gbps=37.5, efa=False),
    ipv4_per_interface=50,
    purchase_options=(ON_DEMAND, SPOT),
    nitro_generation=4,
    source="EC2 DescribeInstanceTypes (copy in moto 5.2.5)",
    dated=date(2026, 8, 21),
)
"""A host with 4 GiB for each vCPU, which parallel compilations need; the Neuron FAQ recommends compute servers (C5, z1d)."""

# Values of --target of neuronx-cc (Neuron Compiler CLI Reference Guide of SDK 2.32, 2026-08-21).
_TARGETS: Final[Mapping[str, str]] = {
    "Trainium": "trn1",
    "Trainium2": "trn2",
    "Trainium3": "trn3",
    "Inferentia2": "inf2",
}

TARGET_VARIABLE: Final = "NEURON_PLATFORM_TARGET_OVERRIDE"
"""Target of the compiler where the host has other chips or none."""

VLLM_CPU_COMPILE_VARIABLE: Final = "VLLM_NEURON_CPU_COMPILE"
"""Makes vLLM Neuron capture and compile graphs without a Neuron device."""

# Of all zones with a type of the catalogue, the only one without m7i.24xlarge (DescribeInstanceTypeOfferings, moto 5.2.5).
_ZONES_WITHOUT_HOST: Final = frozenset({"use1-az3"})


def compile_type(
    machine: InstanceType, *, zone_id: str, phase: str, instance_type: str | None = None
) -> InstanceType | None:
    """Return the type of the On-Demand node that compiles graphs, or None if none is known to be offered.

    Default: the smallest in the zone that compiles for the same target; for collected graphs (`phase` ``compile``), which
    need no Neuron devices, `CPU` where there is none.
    """
    host = None if zone_id in _ZONES_WITHOUT_HOST else CPU_HOST
    if instance_type is not None:
        return host if instance_type == CPU else INSTANCE_TYPES[instance_type]
    if not machine.is_neuron:
        return None
    smaller = [
        row
        for row in INSTANCE_TYPES.values()
        if row.is_neuron
        and row.vcpus < machine.vcpus
        and ON_DEMAND in row.purchase_options
        and compile_target(row) == compile_target(machine)
        and zone_id in offered_zones(row.name)
    ]
    return min(smaller, key=lambda row: row.vcpus, default=host if phase == "compile" else None)


def compile_target(machine: InstanceType) -> str:
    """Return the compiler target of an instance type, such as ``trn2``. A NEFF runs on its target only."""
    if machine.name.startswith("trn1n."):
        return "trn1n"
    return _TARGETS.get(machine.accelerator, machine.name.partition(".")[0])
