"""The accelerated EC2 instance types of the catalogue, by name.

Each family is one module with everything that is known about its types. The figures come from EC2's
DescribeInstanceTypes, except where that API is wrong or silent, which `InstanceType.notes` explains. A unit test compares
every field with the copy of that API's answer that moto ships.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from ultracluster_catalog.machines.inf2 import INF2
from ultracluster_catalog.machines.instance_type import InstanceType
from ultracluster_catalog.machines.machine import AnnouncedChip, Machine, MachineFamily
from ultracluster_catalog.machines.p4 import P4
from ultracluster_catalog.machines.p5 import P5
from ultracluster_catalog.machines.p6 import P6
from ultracluster_catalog.machines.trn1 import TRN1
from ultracluster_catalog.machines.trn2 import TRN2
from ultracluster_catalog.machines.trn3 import TRN3

FAMILIES: Final[tuple[MachineFamily, ...]] = (TRN1, TRN2, TRN3, INF2, P4, P5, P6)
"""Every family of the catalogue."""

MACHINES: Final[Mapping[str, Machine]] = MappingProxyType(
    {machine.instance_type.name: machine for family in FAMILIES for machine in family.machines}
)
"""Everything that the catalogue knows about each instance type, by API name."""

INSTANCE_TYPES: Final[Mapping[str, InstanceType]] = MappingProxyType(
    {name: machine.instance_type for name, machine in MACHINES.items()}
)
"""Every instance type of the catalogue, by API name."""

ANNOUNCED_CHIPS: Final[Mapping[str, AnnouncedChip]] = MappingProxyType(
    {family.announced.name: family.announced for family in FAMILIES if family.announced}
)
"""Chips whose instance types EC2 has not published, by name."""

CHIP_CORES: Final[Mapping[str, tuple[int, int]]] = MappingProxyType(
    {name: (chip.cores_per_chip, chip.logical_nc_config) for name, chip in ANNOUNCED_CHIPS.items()}
    | {
        machine.accelerator: (
            machine.neuron_cores // machine.chips,
            machine.neuron_cores // machine.logical_neuron_cores,
        )
        for machine in INSTANCE_TYPES.values()
        if machine.is_neuron
    }
)
"""NeuronCores of a chip, and of a logical NeuronCore by default, by the name of the chip."""


def announced_chip(instance_type: str) -> AnnouncedChip | None:
    """Return the chip that a name such as ``trn3.48xlarge`` stands for, if EC2 has not published types of it."""
    name = instance_type.lower().removeprefix("ml.")
    chips = ANNOUNCED_CHIPS.values()
    return next((chip for chip in chips if name.startswith((chip.prefix, chip.name.lower()))), None)
