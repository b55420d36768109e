"""Smaller instance types that can compile the graphs of a larger one."""

from ultracluster_catalog.machines.instance_type import ON_DEMAND, InstanceType
from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES
from ultracluster_catalog.neuron.neuron_settings import compile_target
from ultracluster_catalog.places.zones import offered_zones

__all__ = ["smaller_compile_types"]


def smaller_compile_types(machine: InstanceType, *, zone_id: str) -> list[InstanceType]:
    """Return smaller On-Demand types in a zone that compile for the same target, smallest first.

    Args:
        machine: Instance type that the graphs are for.
        zone_id: Zone ID of the cluster.
    """
    if not machine.is_neuron:
        return []
    return sorted(
        (
            row
            for row in INSTANCE_TYPES.values()
            if row.is_neuron
            and row.vcpus < machine.vcpus
            and ON_DEMAND in row.purchase_options
            and compile_target(row) == compile_target(machine)
            and zone_id in offered_zones(row.name)
        ),
        key=lambda row: row.vcpus,
    )
