"""`custom_instance_type` of a cluster: an instance type that the catalogue lacks, or an override."""

from datetime import date
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, ValidationInfo, WithJsonSchema

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

KNOWN_TYPE: Final = constraint(INSTANCE_TYPE)

_NAME: Final = r"[a-z][a-z0-9-]*\.[a-z0-9-]+"


def _check_name(name: str, info: ValidationInfo) -> str:
    """Refuse a type that neither the catalogue nor the cluster describes; ignore an unreadable description."""
    custom = (info.data or {}).get(
        "custom_instance_type", "unread"
    )  # there is no data if a field is read by itself
    if custom is not None:
        return name
    return str(KNOWN_TYPE.apply(name))


InstanceTypeName = Annotated[
    str,
    AfterValidator(_check_name),
    WithJsonSchema({"type": "string", "anyOf": [{"enum": list(INSTANCE_TYPES)}, {"pattern": f"^{_NAME}$"}]}),
]
"""Name of an instance type; the field must follow `custom_instance_type`."""

_Count = Annotated[int, constraint(COUNT)]
_CountOrNone = Annotated[int, constraint(OPTIONAL_COUNT)]


class CustomInstanceType(ConfigModel):
    """Properties of an instance type, as shown by `aws ec2 describe-instance-types`."""

    vcpus: _Count
    """Number of vCPUs."""

    memory_gib: _Count
    """Memory in GiB."""

    accelerator: str
    """Accelerator name, such as Trainium2."""

    chips: _Count
    """Number of accelerators."""

    device_memory_gib: _Count
    """Memory of one accelerator in GiB."""

    cores_per_chip: _CountOrNone = 0
    """NeuronCores per accelerator. Default: 0, a GPU."""

    logical_nc_config: Annotated[int, constraint(LOGICAL_CORES)] = 1
    """NeuronCores per logical NeuronCore by default. Default: 1."""

    network_cards: Annotated[int, constraint(NETWORK_CARDS)]
    """Number of network cards, all identical."""

    interfaces_per_card: Annotated[int, constraint(NETWORK_CARDS)]
    """Maximum number of network interfaces per card."""

    gbps_per_card: _Count
    """Peak bandwidth of each card in Gbit/s."""

    efa: bool = True
    """Whether each card supports EFA. Default: yes."""

    ipv4_per_interface: _Count
    """Maximum number of IPv4 addresses per interface."""

    nvme_disks: _CountOrNone = 0
    """Number of instance-store disks. Default: 0."""

    nvme_gb: _CountOrNone = 0
    """Size of each instance-store disk in GB. Default: 0."""

    purchase_options: Annotated[
        tuple[Literal["on-demand", "spot", "capacity-block"], ...], NotEmpty(code=COUNT.code)
    ]
    """Purchase options of the type."""

    nitro_generation: _Count
    """Generation of the Nitro System."""

    source: str
    """Source of these properties."""

    dated: Annotated[str, constraint(DATED)]
    """Date of the source, in quotes."""

    def entry(self, name: str) -> InstanceType:
        """Return the type as a catalogue entry."""
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
