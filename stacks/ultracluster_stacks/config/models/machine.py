"""`own_instance_type` of a cluster: the figures of a type that the catalogue does not know, or knows less well."""

from datetime import date
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field, ValidationInfo, WithJsonSchema

from ultracluster_catalog.machines.instance_type import InstanceType, describe_instance_type, network_cards
from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES
from ultracluster_rules.machines import (
    COUNT,
    DATED,
    INSTANCE_TYPE,
    LOGICAL_CORES,
    NETWORK_CARDS,
    OPTIONAL_COUNT,
)
from ultracluster_stacks.config.models.constraints import NotEmpty, constraint
from ultracluster_stacks.config.models.model import ConfigModel

__all__ = ["KNOWN_TYPE", "InstanceTypeName", "OwnInstanceType"]

KNOWN_TYPE: Final = constraint(INSTANCE_TYPE)

_NAME: Final = r"[a-z][a-z0-9-]*\.[a-z0-9-]+"


def _check_name(name: str, info: ValidationInfo) -> str:
    """Refuse a type that neither the catalogue nor the cluster describes; an unreadable description passes."""
    own = (info.data or {}).get("own_instance_type", "unread")  # no data where one field is read by itself
    if own is not None:
        return name
    return str(KNOWN_TYPE.apply(name))


InstanceTypeName = Annotated[
    str,
    AfterValidator(_check_name),
    WithJsonSchema({"type": "string", "anyOf": [{"enum": list(INSTANCE_TYPES)}, {"pattern": f"^{_NAME}$"}]}),
]
"""Name of an instance type; the field stands after `own_instance_type`."""

_Count = Annotated[int, constraint(COUNT)]
_CountOrNone = Annotated[int, constraint(OPTIONAL_COUNT)]


class OwnInstanceType(ConfigModel):
    """Figures of an instance type, as `aws ec2 describe-instance-types` tells them."""

    vcpus: _Count = Field(description="vCPUs of one instance.")
    memory_gib: _Count = Field(description="Memory of one instance in GiB.")
    accelerator: str = Field(description="Name of the chip, such as Trainium2.")
    chips: _Count = Field(description="Chips in one instance.")
    device_memory_gib: _Count = Field(description="Memory of one chip in GiB.")
    cores_per_chip: _CountOrNone = Field(default=0, description="NeuronCores of one chip. Default: 0, a GPU.")
    logical_nc_config: Annotated[int, constraint(LOGICAL_CORES)] = Field(
        default=1, description="NeuronCores that make one logical core without being told. Default: 1."
    )
    network_cards: Annotated[int, constraint(NETWORK_CARDS)] = Field(
        description="Network cards of one instance, all alike."
    )
    interfaces_per_card: Annotated[int, constraint(NETWORK_CARDS)] = Field(
        description="Network interfaces that can be attached to each card."
    )
    gbps_per_card: _Count = Field(description="Peak bandwidth of each card in Gbit/s.")
    efa: bool = Field(default=True, description="Whether each card takes an EFA interface. Default: it does.")
    ipv4_per_interface: _Count = Field(description="IPv4 addresses that one interface can hold.")
    nvme_disks: _CountOrNone = Field(default=0, description="Instance-store disks. Default: none.")
    nvme_gb: _CountOrNone = Field(default=0, description="GB of each of these disks.")
    purchase_options: Annotated[
        tuple[Literal["on-demand", "spot", "capacity-block"], ...], NotEmpty(code=COUNT.code)
    ] = Field(description="How the type is sold.")
    nitro_generation: _Count = Field(description="Generation of the Nitro System.")
    source: str = Field(description="Where these figures come from.")
    dated: Annotated[
        str,
        constraint(DATED),
    ] = Field(description="The day of that source, in quotes.")

    def entry(self, name: str) -> InstanceType:
        """Return the type as a catalogue entry.

        Args:
            name: Name of the type.
        """
        return describe_instance_type(
            name,
            vcpus=self.vcpus,
            memory_gib=self.memory_gib,
            accelerator=self.accelerator,
            chips=self.chips,
            device_memory_gib=self.device_memory_gib,
            cores_per_chip=self.cores_per_chip,
            logical_nc_config=self.logical_nc_config,
            cards=network_cards(
                self.network_cards,
                max_interfaces=self.interfaces_per_card,
                gbps=self.gbps_per_card,
                efa=self.efa,
            ),
            ipv4_per_interface=self.ipv4_per_interface,
            nvme=(self.nvme_disks, self.nvme_gb),
            purchase_options=self.purchase_options,
            nitro_generation=self.nitro_generation,
            source=self.source,
            dated=date.fromisoformat(self.dated),
        )
