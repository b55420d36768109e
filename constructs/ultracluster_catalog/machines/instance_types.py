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
from ultracluster_catalog.machines.machine import Machine, MachineFamily
from ultracluster_catalog.machines.p4 import P4
from ultracluster_catalog.machines.p5 import P5
from ultracluster_catalog.machines.p6 import P6
from ultracluster_catalog.machines.trn1 import TRN1
from ultracluster_catalog.machines.trn2 import TRN2

FAMILIES: Final[tuple[MachineFamily, ...]] = (TRN1, TRN2, INF2, P4, P5, P6)
"""Every family of the catalogue."""

MACHINES: Final[Mapping[str, Machine]] = MappingProxyType(
    {machine.instance_type.name: machine for family in FAMILIES for machine in family.machines}
)
"""Everything that the catalogue knows about each instance type, by API name."""

INSTANCE_TYPES: Final[Mapping[str, InstanceType]] = MappingProxyType(
    {name: machine.instance_type for name, machine in MACHINES.items()}
)
"""Every instance type of the catalogue, by API name."""
