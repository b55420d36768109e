"""`custom_instance_type` of a cluster: an instance type that the catalogue lacks, or an override."""

from datetime import date
from typing import Annotated, Any, Literal

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
from ultracluster_stacks.config.models.constraints import Constraint, NotEmpty, refusal
from ultracluster_stacks.config.models.model import ConfigModel

_NAME = r"[a-z][a-z0-9-]*\.[a-z0-9-]+"


def _check_name(name: str, info: ValidationInfo) -> str:
    """Refuse a type that neither the catalogue nor the cluster describes; ignore an unreadable description."""
    values = info.data or {}  # there is no data if a field is read by itself
    described = values.get("custom_instance_type", "unread") is not None
    for finding in () if described else INSTANCE_TYPE.check(name):
        raise refusal(finding)
    return name


InstanceTypeName = Annotated[
    str,
    AfterValidator(_check_name),
    WithJsonSchema({"type": "string", "anyOf": [{"enum": list(INSTANCE_TYPES)}, {"pattern": f"^{_NAME}$"}]}),
]
"""Name of an instance type; the field must follow `custom_instance_type`."""

_Count = Annotated[int, Constraint(COUNT)]
_CountOrNone = Annotated[int, Constraint(OPTIONAL_COUNT)]
_CONVERTED = {
    "network_cards",
    "interfaces_per_card",
    "gbps_per_card",
    "efa",
    "nvme_disks",
    "nvme_gb",
    "dated",
}


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

    logical_nc_config: Annotated[int, Constraint(LOGICAL_CORES)] = 1
    """NeuronCores per logical NeuronCore by default. Default: 1."""

    network_cards: Annotated[int, Constraint(NETWORK_CARDS)]
    """Number of network cards, all identical."""

    interfaces_per_card: Annotated[int, Constraint(NETWORK_CARDS)]
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
        tuple[Literal["on-demand", "spot", "capacity-block"], ...], Constraint(NotEmpty(COUNT.code))
    ]
    """Purchase options of the type."""

    nitro_generation: _Count
    """Generation of the Nitro System."""

    source: str
    """Source of these properties."""

    dated: Annotated[str, Constraint(DATED)]
    """Date of the source, in quotes."""

    def entry(self, name: str) -> InstanceType:
        """Return the type as a catalogue entry."""
        cards = network_cards(
            self.network_cards, max_interfaces=self.interfaces_per_card, gbps=self.gbps_per_card, efa=self.efa
        )
        same: dict[str, Any] = {
            field: getattr(self, field) for field in type(self).model_fields if field not in _CONVERTED
        }
        nvme, dated = (self.nvme_disks, self.nvme_gb), date.fromisoformat(self.dated)
        return describe_instance_type(name, cards=cards, nvme=nvme, dated=dated, **same)
