"""`custom_instance_type` of a cluster: an instance type that the catalogue lacks, or an override."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any, Literal

from ultracluster_catalog.machines.instance_type import InstanceType, describe_instance_type, network_cards
from ultracluster_catalog.machines.instance_types import CHIP_CORES, INSTANCE_TYPES
from ultracluster_rules.findings import Finding, reject
from ultracluster_rules.machines import (
    COUNT,
    DATED,
    INSTANCE_TYPE,
    LOGICAL_CORES,
    NETWORK_CARDS,
    OPTIONAL_COUNT,
)
from ultracluster_rules.values import Bound, NotEmpty
from ultracluster_spec.values import Value, fields_of

_NAME = r"[a-z][a-z0-9-]*\.[a-z0-9-]+"


class _DescribedType(Bound):
    """An instance type is in the catalogue, unless `custom_instance_type`, which is read before it, describes it."""

    @property
    def json_schema(self) -> dict[str, Any]:
        """A name of the catalogue, or one that looks like it."""
        return {"anyOf": [{"enum": list(INSTANCE_TYPES)}, {"pattern": f"^{_NAME}$"}]}

    def check(self, value: Any, *, path: str = "") -> list[Finding]:
        """Return a finding if the catalogue lacks the type."""
        return INSTANCE_TYPE.check(value, path=path)

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], Any]) -> Any:
        """Ignore an unreadable description; there are no other fields if this one is read by itself."""

        def validate(value: Any, info: Any) -> Any:
            if (info.data or {}).get("custom_instance_type", "unread") is None:
                reject(self.check(value))
            return value

        function = {"type": "with-info", "function": validate}
        return {"type": "function-after", "function": function, "schema": handler(source)}


InstanceTypeName = Annotated[str, _DescribedType()]
"""Name of an instance type; the field must follow `custom_instance_type`."""

_Count = Annotated[int, COUNT]
_CountOrNone = Annotated[int, OPTIONAL_COUNT]
_CONVERTED = {
    "network_cards",
    "interfaces_per_card",
    "gbps_per_card",
    "efa",
    "nvme_disks",
    "nvme_gb",
    "dated",
    "cores_per_chip",
    "logical_nc_config",
    "instances_per_ultraserver",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class CustomInstanceType(Value):
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

    cores_per_chip: _CountOrNone | None = None
    """NeuronCores per accelerator. Default: 8 of a Trainium2 or Trainium3, 2 of a Trainium or Inferentia2, else 0, a GPU."""

    logical_nc_config: Annotated[int, LOGICAL_CORES] | None = None
    """NeuronCores per logical NeuronCore by default. Default: 2 of a Trainium2 or Trainium3, else 1."""

    network_cards: Annotated[int, NETWORK_CARDS]
    """Number of network cards, all identical."""

    interfaces_per_card: Annotated[int, NETWORK_CARDS]
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
        tuple[Literal["on-demand", "spot", "capacity-block"], ...], NotEmpty(COUNT.code)
    ]
    """Purchase options of the type."""

    nitro_generation: _Count
    """Generation of the Nitro System."""

    instances_per_ultraserver: _Count = 1
    """Number of servers of the UltraServer that the type is part of; for Trainium3, 4 or 36. Default: 1, none."""

    source: str
    """Source of these properties."""

    dated: Annotated[str, DATED]
    """Date of the source, in quotes."""

    def entry(self, name: str) -> InstanceType:
        """Return the type as a catalogue entry."""
        cards = network_cards(
            self.network_cards, max_interfaces=self.interfaces_per_card, gbps=self.gbps_per_card, efa=self.efa
        )
        same: dict[str, Any] = {
            name: getattr(self, name) for name in fields_of(CustomInstanceType) if name not in _CONVERTED
        }
        cores, logical = CHIP_CORES.get(self.accelerator, (0, 1))
        return describe_instance_type(
            name,
            cards=cards,
            cores_per_chip=cores if self.cores_per_chip is None else self.cores_per_chip,
            logical_nc_config=logical if self.logical_nc_config is None else self.logical_nc_config,
            nvme=(self.nvme_disks, self.nvme_gb),
            ultraserver=(None, self.instances_per_ultraserver),
            dated=date.fromisoformat(self.dated),
            **same,
        )
